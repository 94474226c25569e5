"""Each kind of secret is found by its own rule; the samples are made up here, so that none stands in the source."""

import itertools
import random
import re
import string

import pytest

from marid.text.secrets.masker import Masker
from marid.text.secrets.secret_rules import RULES, SecretRule

ALPHABETS = {
    "A": string.ascii_letters + string.digits,
    "B": string.ascii_letters + string.digits + "+/",
    "L": string.ascii_letters,
    "U": string.ascii_uppercase + string.digits,
    "a": string.ascii_lowercase + string.digits,
    "d": string.digits,
    "h": "0123456789abcdef",
}
UUID = "{h8}-{h4}-{h4}-{h4}-{h12}"
# {A36} stands for 36 random letters and digits, and so on; what stands between < and > is to be masked.
SAMPLES = [
    ("aws-access-key", "<AKIA{U16}>"),
    ("aws-access-key", "<ASIA{U16}>"),
    ("aws-bedrock-key", "<ABSKQmVkcm9ja0FQSUtleS{B90}=>"),
    ("github-token", "<ghp_{A36}>"),
    ("github-token", "<gho_{A36}>"),
    ("github-token", "<ghu_{A36}>"),
    ("github-token", "<ghs_{A36}>"),
    ("github-token", "<ghr_{A76}>"),
    ("github-fine-grained-token", "<github_pat_{A22}_{A59}>"),
    ("gitlab-token", "<glpat-{A20}>"),
    ("gitlab-token", "<glpat-{A27}.01.{a9}>"),
    ("gitlab-token", "<glrt-{A20}>"),
    ("gitlab-token", "<glptt-{h40}>"),
    ("gitlab-token", "<GR1348941{A20}>"),
    ("slack-token", "<xoxb-{d12}-{d12}-{A24}>"),
    ("slack-token", "<xoxp-{d12}-{d12}-{d12}-{h32}>"),
    ("slack-token", "<xoxe.xoxp-1-{A146}>"),
    ("slack-token", "<xapp-1-{U11}-{d13}-{h64}>"),
    ("anthropic-key", "<sk-ant-api03-{A48}-{A44}AA>"),
    ("openrouter-key", "<sk-or-v1-{h64}>"),
    ("openai-key", "<sk-proj-{A48}_{A60}>"),
    ("openai-key", "<sk-svcacct-{A60}>"),
    ("openai-key", "<sk-admin-{A60}>"),
    ("langfuse-key", f"<sk-lf-{UUID}>"),
    ("google-api-key", "<AIza{A35}>"),
    ("google-oauth-token", "<ya29.{A60}>"),
    ("google-refresh-token", "<1//0{A60}>"),
    ("google-client-secret", "<GOCSPX-{A28}>"),
    ("stripe-key", "<sk_live_{A24}>"),
    ("stripe-key", "<rk_live_{A99}>"),
    ("stripe-webhook-secret", "<whsec_{B32}>"),
    ("sendgrid-key", "<SG.{A22}.{A43}>"),
    ("npm-token", "<npm_{A36}>"),
    ("pypi-token", "<pypi-AgEIcHlwaS5vcmc{A100}>"),
    ("rubygems-key", "<rubygems_{h48}>"),
    ("clojars-token", "<CLOJARS_{h60}>"),
    ("huggingface-token", "<hf_{L34}>"),
    ("huggingface-token", "<api_org_{L34}>"),
    ("replicate-token", "<r8_{A37}>"),
    ("groq-key", "<gsk_{A52}>"),
    ("xai-key", "<xai-{A80}>"),
    ("perplexity-key", "<pplx-{A48}>"),
    ("nvidia-key", "<nvapi-{A64}>"),
    ("langsmith-key", "<lsv2_pt_{h32}_{h10}>"),
    ("digitalocean-token", "<dop_v1_{h64}>"),
    ("digitalocean-token", "<doo_v1_{h64}>"),
    ("digitalocean-token", "<dor_v1_{h64}>"),
    ("vault-token", "<hvs.{A90}>"),
    ("vault-token", "<hvb.{A120}>"),
    ("age-secret-key", "<AGE-SECRET-KEY-1{U58}>"),
    ("docker-token", "<dckr_pat_{A27}>"),
    ("shopify-token", "<shpat_{h32}>"),
    ("square-token", "<sq0csp-{A43}>"),
    ("razorpay-key", "<rzp_live_{A14}>"),
    ("flutterwave-key", "<FLWSECK-{h32}-X>"),
    ("grafana-token", "<glsa_{A32}_{h8}>"),
    ("grafana-token", "<glc_{B80}=>"),
    ("sentry-token", "<sntrys_{A100}>"),
    ("sentry-token", "<sntryu_{h64}>"),
    ("newrelic-key", "<NRAK-{U27}>"),
    ("dynatrace-token", "<dt0c01.{U24}.{U64}>"),
    ("databricks-token", "<dapi{h32}-2>"),
    ("postman-key", "<PMAK-{h24}-{h34}>"),
    ("linear-key", "<lin_api_{A40}>"),
    ("notion-token", "<ntn_{A46}>"),
    ("notion-token", "<secret_{A43}>"),
    ("figma-token", "<figd_{A43}>"),
    ("atlassian-token", "<ATATT3xFfGF0{A180}>"),
    ("atlassian-token", "<ATBB{A32}>"),
    ("hubspot-token", f"<pat-na1-{UUID}>"),
    ("brevo-key", "<xkeysib-{h64}-{A16}>"),
    ("pulumi-token", "<pul-{h40}>"),
    ("doppler-token", "<dp.pt.{A43}>"),
    ("doppler-token", "<dp.st.prd.{A43}>"),
    ("planetscale-token", "<pscale_tkn_{A43}>"),
    ("supabase-key", "<sbp_{h40}>"),
    ("supabase-key", "<sb_secret_{A31}>"),
    ("netlify-token", "<nfp_{A36}>"),
    ("heroku-key", "<HRKU-AA{A58}>"),
    ("flyio-token", "<fm2_{B140}>"),
    ("flyio-token", "<fo1_{A43}>"),
    ("cloudflare-origin-key", "<v1.0-{h24}-{h146}>"),
    ("tailscale-key", "<tskey-auth-{A17}-{A32}>"),
    ("sonar-token", "<squ_{h40}>"),
    ("buildkite-token", "<bkua_{h40}>"),
    ("circleci-token", "<CCIPAT_{A22}_{h40}>"),
    ("prefect-key", "<pnu_{A36}>"),
    ("artifactory-key", "<AKCp{A69}>"),
    ("onepassword-token", "<ops_eyJ{A400}>"),
    ("mapbox-token", "<sk.eyJ{A90}.{A22}>"),
    ("private-key", "<-----BEGIN PRIVATE KEY-----\n{B64}\n{B20}\n-----END PRIVATE KEY----->"),
    ("putty-private-key", "Private-Lines: 2\n<{B64}\n{B40}>"),
    ("jwt", "<eyJ{A33}.eyJ{A60}.{A43}>"),
    ("aws-secret-key", 'aws_secret_access_key = "<{B40}>"'),
    ("aws-secret-key", "secretAccessKey: '<{B40}>'"),
    ("azure-storage-key", "AccountName=x;AccountKey=<{B86}==>;EndpointSuffix=y"),
    ("azure-storage-key", "SharedAccessKey=<{B43}=>"),
    ("azure-client-secret", "aB38<Q~{A34}>"),
    ("telegram-token", "bot 123456789:<AA{A33}>"),
    ("terraform-token", "{A14}.atlasv1.<{A67}>"),
    ("slack-webhook", "https://hooks.slack.com/services/<T{U10}/B{U10}/{A24}>"),
    ("discord-webhook", "https://discord.com/api/webhooks/{d18}/<{A68}>"),
    ("teams-webhook", f"https://x.webhook.office.com/webhookb2/<{UUID}@{UUID}/IncomingWebhook/{{h32}}/{UUID}>"),
    ("sk-key", "<sk-{A48}>"),
    ("sk-key", "<sk-{h32}>"),
    ("authorization", "Authorization: Bearer <{A40}>"),
    ("authorization", "'Authorization': 'Basic <{B40}>'"),
    ("url-password", "postgres://app:<{A16}>@db.internal:5432/app"),
    ("url-password", "redis://:<{A16}>@cache/0"),
    ("assigned-secret", 'password: "<{A16}>"'),
]


def filled(template: str, seed: int) -> str:
    """The template with random characters in its holes, spread over the whole alphabet as in a real secret."""
    source = random.Random(f"{template}{seed}")

    def draw(hole: re.Match[str]) -> str:
        alphabet, length = ALPHABETS[hole[1]], int(hole[2])
        shuffled = (source.sample(alphabet, len(alphabet)) for _ in range(0, length, len(alphabet)))
        return "".join(itertools.chain.from_iterable(shuffled))[:length]

    return re.sub(r"\{(\w)(\d+)\}", draw, template)


@pytest.mark.parametrize(("rule", "template"), SAMPLES)
def test_a_secret_is_masked_under_the_name_of_its_rule(rule: str, template: str) -> None:
    for seed in range(5):
        before, secret, after = re.split("[<>]", filled(template, seed))
        shown = f"see {before}{secret}{after} there".encode()
        assert Masker().mask(shown, "x.yaml") == (f"see {before}[masked:{rule}]{after} there".encode(), 1)


def test_every_rule_has_a_sample() -> None:
    assert {rule for rule, _ in SAMPLES} == {rule.name for rule in RULES}


def test_no_two_rules_share_a_name_or_a_literal() -> None:
    literals = [literal for rule in RULES for literal in rule.literals]
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert len(set(literals)) == len(literals)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_can_stand_in_a_mask_and_in_a_table(rule: SecretRule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)
    assert rule.description
    assert not re.search(r"[|\n]|\.$", rule.description)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_gives_a_run_without_upper_bound_no_way_back(rule: SecretRule) -> None:
    # Possessive: the run is read once. What may repeat without end and give back is a group whose parts are such runs.
    assert not re.search(rb"\{\d+,\}(?!\+)", rule.pattern)
    assert not re.search(rb"[\w\]][*+](?!\+)", re.sub(rb"\[(?:\\.|[^\]\\])*\]", b"[]", rule.pattern))
