"""What secrets look like, one row per kind, from public descriptions of each format.

A row has the fixed bytes that reveal the secret (`literals`) and what must surround them (`pattern`, anchored at the
literal). The part to mask is the group `secret`, or the whole match. If two rows overlap, the earlier one names the
mask. A pattern must not retry a long run from each of its bytes: a run without upper bound is possessive and ends the
pattern, or a look-behind allows it to start only at its first byte.
"""

from typing import NamedTuple


class SecretRule(NamedTuple):
    """One kind of secret; `name` is for the mask, `description` for the manual."""

    # Not a dataclass: every start reads this table, and a dataclass would cost half a millisecond.
    name: str
    description: str
    literals: tuple[bytes, ...]
    pattern: bytes
    # Bits per byte that the secret must have; LOOSE_ENTROPY is for text without a fixed form, which is judged strictly.
    entropy: float


FIXED_ENTROPY = 3.0
LOOSE_ENTROPY = 3.5

# A token does not start inside a word; an escape such as \n, \u003d or %3D before it is not part of a word.
_ESCAPE = rb"(?<=\\[nrt])|(?<=\\u[0-9A-Fa-f]{4})|(?<=%[0-9A-Fa-f]{2})"
_LEFT = rb"(?:(?<![0-9A-Za-z])|" + _ESCAPE + rb")"
_RIGHT = rb"(?![0-9A-Za-z])"

# fmt: off
# Secrets with a fixed prefix: name, description, literals, pattern (between the two boundaries above).
_TOKENS = (
    ("aws-access-key", "AWS access key id", b"AKIA ASIA", rb"A[KS]IA[A-Z0-9]{16}"),
    ("aws-bedrock-key", "Amazon Bedrock API key", b"ABSKQmVkcm9ja0FQSUtleS", rb"ABSK[0-9A-Za-z+/]{60,}+={0,2}"),
    ("github-token", "GitHub personal, OAuth, user, server or refresh token", b"ghp_ gho_ ghu_ ghs_ ghr_",
     rb"gh[pousr]_[0-9A-Za-z]{36,}+"),
    ("github-fine-grained-token", "GitHub fine-grained personal access token", b"github_pat_",
     rb"github_pat_[0-9A-Za-z_]{36,}+"),
    ("gitlab-token", "GitLab personal, runner, deploy, trigger, job, feed or agent token",
     b"glpat- glrt- gldt- glptt- glcbt- glft- glagent- glsoat- gloas- glimt- glffct- GR1348941",
     rb"(?:gl[a-z]{2,6}-|GR1348941)[0-9A-Za-z_-]{20,}+(?:\.[0-9a-z]{2}\.?[0-9a-z]{7,9})?"),
    ("slack-token", "Slack bot, user, app, refresh or workflow token", b"xox xapp- xwfp-",
     rb"(?:xox[a-z](?:\.xox[a-z])?|xapp|xwfp)-[0-9A-Za-z-]{20,}+"),
    ("anthropic-key", "Anthropic API or admin key", b"sk-ant-", rb"sk-ant-[0-9A-Za-z_-]{24,}+"),
    ("openrouter-key", "OpenRouter API key", b"sk-or-v1-", rb"sk-or-v1-[0-9a-f]{40,}+"),
    ("openai-key", "OpenAI project, service account or admin key", b"sk-proj- sk-svcacct- sk-admin-",
     rb"sk-(?:proj|svcacct|admin)-[0-9A-Za-z_-]{24,}+"),
    ("langfuse-key", "Langfuse secret key", b"sk-lf-", rb"sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("google-api-key", "Google API key", b"AIza", rb"AIza[0-9A-Za-z_-]{35}(?![_-])"),
    ("google-oauth-token", "Google OAuth access token", b"ya29.", rb"ya29\.[0-9A-Za-z_-]{20,}+"),
    ("google-refresh-token", "Google OAuth refresh token", b"1//0", rb"1//0[0-9A-Za-z_-]{40,}+"),
    ("google-client-secret", "Google OAuth client secret", b"GOCSPX-", rb"GOCSPX-[0-9A-Za-z_-]{28}"),
    ("stripe-key", "Stripe live secret or restricted key", b"sk_live_ rk_live_", rb"[rs]k_live_[0-9A-Za-z]{16,}+"),
    ("stripe-webhook-secret", "Stripe or Svix webhook signing secret", b"whsec_", rb"whsec_[0-9A-Za-z+/]{32,}+={0,2}"),
    ("sendgrid-key", "SendGrid API key", b"SG.", rb"SG\.[0-9A-Za-z_-]{20,24}\.[0-9A-Za-z_-]{39,50}"),
    ("npm-token", "npm access token", b"npm_", rb"npm_[0-9A-Za-z]{36}"),
    ("pypi-token", "PyPI upload token", b"pypi-Ag", rb"pypi-Ag[0-9A-Za-z_-]{50,}+"),
    ("rubygems-key", "RubyGems API key", b"rubygems_", rb"rubygems_[0-9a-f]{48}"),
    ("clojars-token", "Clojars deploy token", b"CLOJARS_", rb"CLOJARS_[0-9a-f]{60}"),
    ("huggingface-token", "Hugging Face user or organisation token", b"hf_ api_org_",
     rb"(?:hf|api_org)_(?=[0-9a-z]{0,40}[A-Z])(?=[0-9A-Z]{0,40}[a-z])[0-9A-Za-z]{30,40}"),
    ("replicate-token", "Replicate API token", b"r8_", rb"r8_[0-9A-Za-z]{37}"),
    ("groq-key", "Groq API key", b"gsk_", rb"gsk_[0-9A-Za-z]{48,56}"),
    ("xai-key", "xAI API key", b"xai-", rb"xai-[0-9A-Za-z]{70,90}"),
    ("perplexity-key", "Perplexity API key", b"pplx-", rb"pplx-[0-9A-Za-z]{48,56}"),
    ("nvidia-key", "NVIDIA API key", b"nvapi-", rb"nvapi-[0-9A-Za-z_-]{50,}+"),
    ("langsmith-key", "LangSmith API key", b"lsv2_", rb"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("digitalocean-token", "DigitalOcean personal, OAuth or refresh token", b"dop_v1_ doo_v1_ dor_v1_",
     rb"do[opr]_v1_[0-9a-f]{64}"),
    ("vault-token", "HashiCorp Vault service, batch or recovery token", b"hvs. hvb. hvr.",
     rb"hv[sbr]\.[0-9A-Za-z_-]{24,}+"),
    ("age-secret-key", "age identity", b"AGE-SECRET-KEY-", rb"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,}+"),
    ("docker-token", "Docker Hub personal or organisation token", b"dckr_", rb"dckr_[po]at_[0-9A-Za-z_-]{27,}+"),
    ("shopify-token", "Shopify access token or shared secret", b"shpat_ shpss_ shpca_ shppa_",
     rb"shp(?:at|ss|ca|pa)_[0-9A-Fa-f]{32}"),
    ("square-token", "Square access token or client secret", b"sq0", rb"sq0(?:atp|csp)-[0-9A-Za-z_-]{22,43}"),
    ("razorpay-key", "Razorpay live key id", b"rzp_live_", rb"rzp_live_[0-9A-Za-z]{14,}+"),
    ("flutterwave-key", "Flutterwave live secret key", b"FLWSECK-", rb"FLWSECK-[0-9a-f]{32}-X"),
    ("grafana-token", "Grafana service account or cloud token", b"glsa_ glc_",
     rb"(?:glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}|glc_[0-9A-Za-z+/]{40,}+={0,2})"),
    ("sentry-token", "Sentry organisation or user token", b"sntry",
     rb"(?:sntrys_[0-9A-Za-z+/=_-]{60,}+|sntryu_[0-9a-f]{64})"),
    ("newrelic-key", "New Relic user or insert key", b"NRAK- NRII-", rb"(?:NRAK-[0-9A-Z]{27}|NRII-[0-9A-Za-z_-]{32})"),
    ("dynatrace-token", "Dynatrace API token", b"dt0", rb"dt0[cs][0-9]{2}\.[0-9A-Z]{8,24}\.[0-9A-Z]{64}"),
    ("databricks-token", "Databricks access token", b"dapi", rb"dapi[0-9a-f]{32}(?:-[0-9])?"),
    ("postman-key", "Postman API key", b"PMAK-", rb"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    ("linear-key", "Linear API or OAuth key", b"lin_api_ lin_oauth_", rb"lin_(?:api|oauth)_[0-9A-Za-z]{40,64}"),
    ("notion-token", "Notion integration token", b"ntn_ secret_", rb"(?:ntn_[0-9A-Za-z]{46}|secret_[0-9A-Za-z]{43})"),
    ("figma-token", "Figma personal access token", b"figd_", rb"figd_[0-9A-Za-z_-]{40,}+"),
    ("atlassian-token", "Atlassian API token or Bitbucket app password", b"ATATT3 ATCTT3 ATBB",
     rb"(?:AT[AC]TT3[0-9A-Za-z_=-]{80,}+|ATBB[0-9A-Za-z]{32})"),
    ("hubspot-token", "HubSpot private app token", b"pat-na pat-eu",
     rb"pat-[a-z]{2}[0-9]-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    ("brevo-key", "Brevo API key", b"xkeysib-", rb"xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}"),
    ("pulumi-token", "Pulumi access token", b"pul-", rb"pul-[0-9a-f]{40}"),
    ("doppler-token", "Doppler personal, service or CLI token", b"dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
     rb"dp\.[a-z]{2,5}\.(?:[0-9a-z_-]{2,35}\.)?[0-9A-Za-z]{40,44}"),
    ("planetscale-token", "PlanetScale password or token", b"pscale_",
     rb"pscale_(?:tkn|pw|oauth)_[0-9A-Za-z_=.-]{32,}+"),
    ("supabase-key", "Supabase access token or secret key", b"sbp_ sb_secret_",
     rb"(?:sbp_[0-9a-f]{40}|sb_secret_[0-9A-Za-z_-]{31,}+)"),
    ("netlify-token", "Netlify access token", b"nfp_", rb"nfp_[0-9A-Za-z]{36}"),
    ("heroku-key", "Heroku API key", b"HRKU-AA", rb"HRKU-AA[0-9A-Za-z_-]{58}"),
    ("flyio-token", "Fly.io access token", b"fm2_ fo1_", rb"(?:fm2_[0-9A-Za-z+/]{100,}+={0,3}|fo1_[0-9A-Za-z_-]{43})"),
    ("cloudflare-origin-key", "Cloudflare origin CA key", b"v1.0-", rb"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}"),
    ("tailscale-key", "Tailscale auth, API or client key", b"tskey-",
     rb"tskey-[a-z]{3,10}-[0-9A-Za-z]{8,24}-[0-9A-Za-z]{16,}+"),
    ("sonar-token", "SonarQube token", b"squ_ sqp_ sqa_", rb"sq[upa]_[0-9a-f]{40}"),
    ("buildkite-token", "Buildkite API token", b"bkua_", rb"bkua_[0-9a-f]{40}"),
    ("circleci-token", "CircleCI personal or project token", b"CCIP",
     rb"CCIP(?:AT|RJ)_[0-9A-Za-z]{16,30}_[0-9a-f]{40}"),
    ("prefect-key", "Prefect API key", b"pnu_ pnb_", rb"pn[ub]_[0-9A-Za-z]{36}"),
    ("artifactory-key", "JFrog Artifactory API key", b"AKCp", rb"AKCp[0-9A-Za-z]{64,72}"),
    ("onepassword-token", "1Password service account token", b"ops_eyJ", rb"ops_eyJ[0-9A-Za-z+/_-]{200,}+={0,3}"),
    ("mapbox-token", "Mapbox secret token", b"sk.eyJ", rb"sk\.eyJ[0-9A-Za-z_-]{40,400}\.[0-9A-Za-z_-]{20,}+"),
)

# Key armour: quotes, escapes and comment marks may be between its lines, and the end may be cut off.
_LABEL = rb" (?:[0-9A-Z]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
_GAP = rb"(?>(?:\\++[nrt]?|[\s\"'`,;>#|*]|\+(?=[\s\"'])|//[ \t]){0,99})"
_HEADER = rb"(?:" + _GAP + rb"[A-Z][A-Za-z-]{2,30}: [^\r\n\\\"]{0,200}+){0,9}"
_LINE = _GAP + rb"[0-9A-Za-z+/=]{16,}+"
_ARMOUR_END = rb"[^-]*+-----END" + _LABEL
_ARMOUR_TRUNCATED = rb"(?:" + _LINE + rb")*(?:" + _GAP + rb"[0-9A-Za-z+/]{1,15}={0,2}(?=[\s\"'\\]|\Z))?"
_ARMOUR = rb"-----BEGIN" + _LABEL + _HEADER + _LINE + rb"(?:" + _ARMOUR_END + rb"|" + _ARMOUR_TRUNCATED + rb")"

_VALUE_SIGN = rb"[\"'\]]{0,3}[ \t]{0,4}(?:=>|:=|[:=,])[ \t]{0,4}[\"'`]{0,3}"
_USER = rb"(?P<user>[^\s:/@\"'`<>(){}\[\\]{0,64})"
_NO_PORT = rb"(?!(?P=user)@|[0-9]{1,5}[@?#&,])"

# Secrets identified by their context: name, description, literals, whole pattern, entropy.
_CONTEXTUAL = (
    ("private-key", "private key in PEM or PGP armour, also when its end is cut off", b"-----BEGIN", _ARMOUR, 0.0),
    ("putty-private-key", "private part of a PuTTY key file", b"Private-Lines:",
     rb"Private-Lines: [0-9]{1,4}\s{1,4}(?P<secret>[0-9A-Za-z+/=]{16,}+(?:\r?\n[0-9A-Za-z+/=]{4,}+)*)", 0.0),
    ("jwt", "signed JSON web token", b"eyJ", rb"(?:(?<![0-9A-Za-z_-])|" + _ESCAPE + rb")"
     rb"eyJ[0-9A-Za-z_-]{10,}+\.eyJ[0-9A-Za-z_-]{10,}+\.[0-9A-Za-z_-]{16,}+", FIXED_ENTROPY),
    ("aws-secret-key", "AWS secret access key beside its name",
     b"secret_access_key SECRET_ACCESS_KEY secretAccessKey SecretAccessKey aws_secret_key AWS_SECRET_KEY",
     rb"[A-Za-z_]{14,17}" + _VALUE_SIGN + rb"(?P<secret>[0-9A-Za-z/+]{40})(?![0-9A-Za-z/+=])", LOOSE_ENTROPY),
    ("azure-storage-key", "Azure storage or service bus key in a connection string", b"AccountKey= SharedAccessKey=",
     rb"[A-Za-z]{10,15}=(?P<secret>[0-9A-Za-z+/]{43}(?:[0-9A-Za-z+/]{43})?={1,2})", FIXED_ENTROPY),
    ("azure-client-secret", "Microsoft Entra client secret (after its first four characters)", b"Q~",
     rb"(?<=[0-9A-Za-z_~.-]{3}[0-9])Q~[0-9A-Za-z_~.-]{31,34}(?![0-9A-Za-z_~.-])", FIXED_ENTROPY),
    ("telegram-token", "Telegram bot token (after the bot's number)", b":AA",
     rb"(?<=[0-9]{8}):(?P<secret>AA[0-9A-Za-z_-]{33})(?![0-9A-Za-z_-])", FIXED_ENTROPY),
    ("terraform-token", "HCP Terraform token (after its id)", b".atlasv1.",
     rb"(?<=[0-9A-Za-z]{14})\.atlasv1\.(?P<secret>[0-9A-Za-z_=-]{60,}+)", FIXED_ENTROPY),
    ("slack-webhook", "path of a Slack webhook", b"hooks.slack.com/",
     rb"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[0-9A-Za-z+/]{40,}+)", FIXED_ENTROPY),
    ("discord-webhook", "token of a Discord webhook", b"/api/webhooks/",
     rb"/api/webhooks/[0-9]{17,20}/(?P<secret>[0-9A-Za-z_-]{60,}+)", FIXED_ENTROPY),
    ("teams-webhook", "path of a Microsoft Teams webhook", b".webhook.office.com/",
     rb"\.webhook\.office\.com/webhookb2/(?P<secret>[0-9A-Za-z@/-]{80,}+)", FIXED_ENTROPY),
    ("sk-key", "key in the `sk-` form of older OpenAI keys, DeepSeek and others", b"sk-",
     _LEFT + rb"sk-[0-9A-Za-z]{32,}+", LOOSE_ENTROPY),
    ("authorization", "credentials of a Bearer or Basic authorization", b"Bearer bearer Basic",
     rb"(?:[Bb]earer|Basic)[ \t]{1,3}(?P<secret>[0-9A-Za-z._~+/-]{20,}+={0,2})", LOOSE_ENTROPY),
    ("url-password", "password in a URL, `scheme://user:password@host`", b"://",
     rb"(?<=[0-9A-Za-z])://" + _USER + rb":" + _NO_PORT + rb"(?P<secret>[^\s/@\"'`<>\\]{5,128})@(?=[^\s\"'`])", 2.0),
)
# fmt: on

# Names that a secret is assigned to, in lower case; they count only in configuration files.
_KEYWORDS = (
    b"passw passphrase pwd secret token credential apikey api_key api-key accesskey access_key access-key authkey "
    b"auth_key auth-key privatekey private_key private-key encryption_key signing_key master_key account_key"
)
# A name with such an ending describes the secret and is not assigned one.
_ABOUT = b"".join(
    rb"(?<!" + end + rb")"
    for end in b"id ids name names path file files dir url uri arn ref type class host endpoint version format".split()
)
_QUOTED = rb"(?:\\\S|(?!(?P=quote))[^\s\\]){8,256}"
# To the next white space, without brackets and commas before it; the look-ahead bounds the length first.
_BARE = rb"(?=[^\s\"']{8,256}+(?:\s|\Z))(?>(?:[^\s,;}\])]|[,;}\])](?![,;}\])]{0,9}(?:\s|\Z))){8,256})"
# Container descriptions write {"name": "DB_PASSWORD", "value": "..."} on one line or two.
_ASSIGNMENT_SIGN = rb"[\"']?(?:,?\s{0,80}[\"']?value[\"']?)?[ \t]{0,8}(?:=>|:=|=|:(?=[ \t\"']))[ \t]{0,8}"
_ASSIGNMENT_PATTERN = (
    rb"[\w.-]{3,64}+(?=" + _ASSIGNMENT_SIGN + rb")(?i:" + _ABOUT + rb")" + _ASSIGNMENT_SIGN + rb"(?P<quote>[\"'])?"
    rb"(?P<secret>(?(quote)" + _QUOTED + rb"|" + _BARE + rb"))(?(quote)(?P=quote))"
)

ASSIGNMENT = SecretRule(
    name="assigned-secret",
    description="value of a password, secret, token or key in a configuration file",
    literals=tuple(_KEYWORDS.split()),
    pattern=_ASSIGNMENT_PATTERN,
    entropy=LOOSE_ENTROPY,
)

# Suffixes of the files in which ASSIGNMENT counts; names with `.env.` count as well.
# fmt: off
CONFIG_SUFFIXES = frozenset((
    "env", "envrc", "yaml", "yml", "json", "jsonc", "json5", "toml", "ini", "cfg", "conf", "cnf", "properties",
    "tfvars", "npmrc", "pypirc", "credentials",
))
# fmt: on

TOKENS: tuple[SecretRule, ...] = (
    *(
        SecretRule(name, description, tuple(hints.split()), _LEFT + body + _RIGHT, FIXED_ENTROPY)
        for name, description, hints, body in _TOKENS
    ),
    *(
        SecretRule(name, description, tuple(hints.split()), pattern, entropy)
        for name, description, hints, pattern, entropy in _CONTEXTUAL
    ),
)

RULES: tuple[SecretRule, ...] = (*TOKENS, ASSIGNMENT)
