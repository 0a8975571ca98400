"""Whether a value behind a word such as `password`, `user` or `SN` is private, or only speaks about one."""

import re

__all__ = [
    *("CARD", "KINDS", "NAME", "PHONE", "PLACEHOLDER", "SECRET", "SERIAL_WORD", "SET", "USER_WORD"),
    *("has_digit", "is_card", "is_phone", "is_secret", "is_serial", "is_user"),
]

#: What a placeholder may be called; `text` stands for a line that never settled.
KINDS = (
    *("ip", "mac", "path", "user", "host", "serial", "token"),
    *("email", "url", "uuid", "phone", "card", "text"),
)
#: `<ip-1>` and the like, ours or from an earlier redaction; never private, never changed.
PLACEHOLDER = re.compile(rf"<(?:{'|'.join(KINDS)})-[0-9]{{1,9}}>")

#: What stands between a word and its value, JSON within JSON included.
SET = r"\\{0,3}[\"']?\s{0,4}(?:=>|:=|[=:：＝])\s{0,4}"
#: A login, or a Chinese name of two to four characters.
NAME = (
    r"(?:[A-Za-z_][A-Za-z0-9_.-]{0,62}[A-Za-z0-9_]|[A-Za-z]"
    r"|[\u4e00-\u9fff]{2,4}?(?=[登失无没不已在的是（(]|[^\u4e00-\u9fff]|\Z))"
)
USER_WORD = (
    r"(?i:user[_ -]?name|user|login|logname|acct|account|ruser|owner|uname)"
    r"|用户名|用户(?=[:：])|登录名|账号|帐号|账户|姓名|操作员"
)
SECRET = (
    r"(?P<word>(?i:(?:api|access|secret|private|auth|encrypt(?:ion)?|signing|license|ssh|account|shared)[_ -]?key"
    r"(?:[_ -]?(?:id|base))?"
    r"|passwords?|passwd|passphrase|pass_word|pwd|secret|token|session_?id|csrf_?token|credentials?)"
    r"|密码|口令|密钥|令牌|秘钥|授权码)"
)
SERIAL_WORD = (
    r"(?P<word>(?i:(?:board|product|chassis|device|chip|disk|node)[_ -]?(?:sn|serial)\b"
    r"|serial[_ -]?(?:numbers?|num|no\b\.?)|imei|iccid|imsi|(?:v?die|chip|ecid|machine|client|device)[_ -]?id"
    r"|asset[_ -]?tag)|(?<![A-Za-z])(?:SN|S/N|sn(?=[\"']?\s?[:=：])|[Ss]erial(?=[\"']?\s?[:=：]))"
    r"|(?:产品|设备|整机|芯片|单板)?(?:序列号|编号))"
)
PHONE = r"(?:\+86[- ]?)?1[3-9][0-9](?:[- ]?[0-9]{4}){2}"
CARD = r"[1-9][0-9]{5}(?:19|20)[0-9]{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx]"

_NO_SECRET = re.compile(
    r"(?i:none|null|nil|true|false|yes|no|not|empty|required?|incorrect|wrong|invalid|failed|failure|error|expired|"
    r"missing|denied|ok|set|unset|disabled|enabled|must|is|are|for|the|has|should|cannot|change|reset|mismatch|"
    r"length|too|n/a|错误|为空|无效|失败|过期|不正确|不能为空|已过期|不匹配)|\*+|\$\{?\w+\}?|%\w|\{\w*\}"
)
_MODEL_TOKEN = re.compile(
    r"(?i:eos|bos|pad|unk|mask|sep|cls|max|min|num|next|input|output|stop|new|total|prompt|special|vocab|last|per|first|"
    r"image|draft|start|end|decode|the|this|each|sampled?)[_ -]?$"
)
_LOGIN_TOKEN = re.compile(r"(?i:access|auth|api|session|device|refresh|id|csrf|bearer|user|hf|github|gitlab)[_ -]$")
_NO_USER = re.compile(
    r"(?i:root|nobody|daemon|user|users|guest|unknown|none|null|nil|true|false|hwhiaiuser|hwdmuser|hwbaseuser|www-data|"
    r"sshd|systemd[\w-]*|git|input|code|mode|space|stream|data|defined?|error|model|operator|buffer|name|is|not|failed|"
    r"failure|success|ok|invalid|empty|missing|denied|timeout|the|a|an|in|id|for|from|has|with|no|kernel|mem(?:ory)?|"
    r"host|device|config|callback|function|event|task|thread|context|time|sys|system|string|int|str|float|bool|bytes|"
    r"object|self|cls|param\w*|arg\w*|api|app|sudo|wheel|docker|adm|video|render|staff|required|default|group|"
    r"shell|prompt|successful|accepted|rejected|some|any|each|other|"
    r"another|same|current|this|that|it|all|错误|失败|成功|不存在|为空|无效|数据|输入|登录|名称|程序|自定义|未知)"
)
_CALLED = re.compile(r"[A-Za-z_][\w.]{0,80}\((?!uid=)")
_NO_SERIAL = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
_LONG_ID = re.compile(r"(?:device|client|machine)[_ -]?id")
_PHONE_WORD = re.compile(
    r"(?i:电话|手机|联系|拨打|短信|微信|客服|致电|号码|phone|tel\b|mobile|contact|call|sms|wechat|whatsapp|cell)"
)
_CARD_WORD = re.compile(r"身份证|(?i:\bid[ _-]?(?:card|number|no))")


def is_secret(match: re.Match[str]) -> bool:
    """Return whether a value is a secret: not a word about one, and no token of a language model."""
    word, value = match["word"].casefold(), match["token"]
    if _NO_SECRET.fullmatch(value.rstrip(".!:")) or PLACEHOLDER.fullmatch(value):
        return False
    if word == "pwd":
        return not re.match(r"[/~.]|[A-Za-z]:[\\/]", value)
    if word in ("token", "credential", "credentials", "令牌"):
        before = match.string[max(0, match.start() - 16) : match.start()]
        if _MODEL_TOKEN.search(before) or len(value) < 6:
            return False
        is_mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
        return is_mixed or len(value) >= 16 or (_LOGIN_TOKEN.search(before) is not None and len(value) >= 8)
    return True


def has_digit(match: re.Match[str]) -> bool:
    """Return whether what follows `Bearer` is more than a word."""
    return any(char.isdigit() for char in match["token"])


def is_user(match: re.Match[str]) -> bool:
    """Return whether a name is that of a person, not a system account or a word of the log."""
    name = match["user"]
    return _NO_USER.fullmatch(name) is None and _CALLED.match(match.string, match.start("user")) is None


def is_serial(match: re.Match[str]) -> bool:
    """Return whether a value is long and mixed enough to name one single device."""
    value = match["serial"]
    if _NO_SERIAL.fullmatch(value):
        return False
    least = 12 if _LONG_ID.search(match["word"].casefold()) else 8 if value.isdigit() else 6
    return len(value) >= least and sum(char.isdigit() for char in value) >= 2


def is_phone(match: re.Match[str]) -> bool:
    """Return whether eleven digits are a telephone number; many sizes in bytes look the same."""
    item = match["phone"]
    if not item.isdigit():
        return True
    return _PHONE_WORD.search(match.string, max(0, match.start() - 24), match.start()) is not None


def is_card(match: re.Match[str]) -> bool:
    """Return whether 18 digits carry the check digit of a Chinese ID card (GB 11643), or are called one."""
    item = match["card"]
    total = sum(int(digit) * (1 << (17 - i)) for i, digit in enumerate(item[:17]))
    if "10X98765432"[total % 11] == item[17].upper():
        return True
    return _CARD_WORD.search(match.string, max(0, match.start() - 16), match.start()) is not None
