"""One profile for all properties: a machine that is busy is no reason to fail."""

from hypothesis import HealthCheck, settings

settings.register_profile("marid", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("marid")
