"""The table of private items in log text: what each looks like, and what must stand around it.

A group named after a kind (`ip`, `user`, `token` ...) is what is hidden; the rest of a match is only its context.
Rules are tried in order, so a URL is judged before the host in it. Every repetition is possessive, bounded or begins at
one place only, so that a hostile line costs no more than its length.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from assistant.logs.redaction.addresses import (
    FQDN,
    HOST,
    is_address,
    is_fqdn,
    is_host,
    is_ipv6,
    is_login,
    is_mac,
    is_machine,
)
from assistant.logs.redaction.labelled import (
    CARD,
    KINDS,
    NAME,
    PHONE,
    SECRET,
    SERIAL_WORD,
    SET,
    USER_WORD,
    has_digit,
    is_card,
    is_phone,
    is_secret,
    is_serial,
    is_user,
)
from assistant.logs.redaction.places import PATH_CHAR, is_private_path, is_private_url

__all__ = ["KEY_BLOCK", "RULES", "Rule"]

Check = Callable[[re.Match[str]], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """What one private item looks like."""

    pattern: re.Pattern[str]
    needs: tuple[str, ...]
    """A line that has none of these in small letters is not tried; the empty string is in every line."""
    accepts: Check
    """Whether the item is private where it stands."""


def _always(match: re.Match[str]) -> bool:
    return True


def _rule(pattern: str, needs: str = "", accepts: Check = _always) -> Rule:
    return Rule(re.compile(pattern), tuple(needs.split()) or ("",), accepts)


#: A private key with all its lines, cut off or not; the only item of more than one line.
KEY_BLOCK = re.compile(
    r"(?P<token>-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|CERTIFICATE)[A-Z ]{0,10}-----"
    r"(?:[A-Za-z0-9+/=\\,:\s]|-(?!----))*+(?:-----END [A-Z0-9 ]{1,60}-----)?)"
)

# A value without quotes; one that is a placeholder already is none.
_VALUE = rf"(?:[^\s\"'`,;&<>()\[\]{{}}，；。、（）【】「」|\\]|<(?!(?:{'|'.join(KINDS)})-[0-9])|>(?=[A-Za-z0-9]))"
_QUOTED = r"(?P<q>\\{0,3}[\"'])(?P<token>(?:(?!(?P=q))(?:\\.|[^\\\n]))+)(?P=q)"
_SECRET_NEEDS = "key pass pwd secret token session csrf credential 密 口令 令牌 秘钥 授权码"
_LOGIN = r"[A-Za-z_][A-Za-z0-9_.-]{0,63}"
_HEX = "[0-9A-Fa-f]"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_HOST_WORD = (
    r"(?i:host[_ -]?name|computer[_ -]?name|master_addr|server[_ -]?name)|主机(?:名称?)?|服务器(?:名称?)?|机器名"
)
# Not part of a longer word.
_ALONE = r"(?![A-Za-z0-9_(])"

_URLS = (
    _rule(
        r"(?<![A-Za-z0-9+.-])(?P<url>[A-Za-z][A-Za-z0-9+.-]{1,15}://"
        r"(?:[^\s\"'`<>()\[\]{}，。；、（）】」@/\\]{1,256}@)?(?:\[[0-9A-Fa-f:.%]{2,60}\]|[A-Za-z0-9._-]{1,253})"
        r"[^\s\"'`<>()\[\]{}，。；、（）】」|\\]*(?<![.,:;!?]))",
        "://",
        is_private_url,
    ),
)

_SECRETS = (
    _rule(r"(?P<token>ssh-(?:rsa|ed25519|dss)\s+AAAA[A-Za-z0-9+/=]{16,}+(?:\s[\w.-]{1,64}@[\w.-]{1,64})?)", "ssh-"),
    _rule(r"(?P<token>ecdsa-sha2-\w{1,20}\s+AAAA[A-Za-z0-9+/=]{16,}+(?:\s[\w.-]{1,64}@[\w.-]{1,64})?)", "ecdsa-"),
    _rule(
        r"(?i:\b(?:set-)?cookie)[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?P<token>[^\s\"'<>=;]{1,80}=[^\"'<>\n]{1,4096})",
        "cookie",
    ),
    _rule(
        rf"(?i:\b(?:proxy-)?authorization){SET}[\"']?(?:(?i:bearer|basic|token|digest|apikey|negotiate)\s{{1,4}})?"
        r"(?P<token>(?!(?i:bearer|basic|token|digest|negotiate|failed|error|header|required|denied)\b)"
        r"[A-Za-z0-9._~+/=:-]{6,}+)",
        "authorization",
    ),
    _rule(r"\b(?i:bearer|basic)\s{1,4}(?P<token>[A-Za-z0-9._~+/=-]{8,}+)", "bearer basic", has_digit),
    # Known shapes: JSON web tokens, keys of clouds, code forges and model hubs.
    _rule(
        r"(?<![A-Za-z0-9_-])(?P<token>eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{4,}+(?:\.[A-Za-z0-9_-]*+)?)",
        "eyj",
    ),
    _rule(
        r"(?<![A-Za-z0-9])(?P<token>(?:AKIA|ASIA|AIza|LTAI)[A-Za-z0-9_-]{12,}+|gh[pousr]_[A-Za-z0-9]{16,}+"
        r"|github_pat_\w{16,}+|glpat-[\w-]{12,}+|hf_[A-Za-z0-9]{16,}+|xox[abprs]-[A-Za-z0-9-]{8,}+"
        r"|npm_[A-Za-z0-9]{20,}+|sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{16,}+)",
        "akia asia aiza ltai gh glpat hf_ xox npm_ sk-",
    ),
    _rule(r"\bcurl\b[^\n]{0,200}?\s-u\s{1,4}(?P<user>[\w.-]{1,64}):(?P<token>[^\s\"'<>]{1,128})", "curl"),
    _rule(SECRET + SET + _QUOTED, _SECRET_NEEDS, is_secret),
    _rule(SECRET + SET + rf"(?P<token>{_VALUE}{{1,4096}}+)", _SECRET_NEEDS, is_secret),
    _rule(rf"--(?:[a-z]{{1,16}}-)?{SECRET}\s{{1,4}}[\"']?(?P<token>(?!-){_VALUE}{{1,256}}+)", "--", is_secret),
    _rule(
        rf"{SECRET}\s?(?i:\bis\b|\bwas\b|是|为|改成|设为)\s{{0,4}}"
        rf"(?P<token>(?=[^\s0-9]{{0,40}}[0-9]){_VALUE}{{4,128}}+)",
        _SECRET_NEEDS,
        is_secret,
    ),
    # A line of a key whose first line was elsewhere.
    _rule(
        r"\A\s{0,8}(?P<token>(?=[a-z0-9+/]{0,40}[A-Z])(?=[A-Z0-9+/]{0,40}[a-z])(?=[A-Za-z+/]{0,60}[0-9])"
        r"[A-Za-z0-9+/]{60,76}={0,2})\s{0,4}\Z"
    ),
)

_ADDRESSES = (
    _rule(
        r"(?<![\w.+%@/-])(?P<email>[\w.+%-]{1,64}+@[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,6}"
        r"\.(?!(?:local|lan|internal|intranet|corp|localdomain|service|so|py|plt)(?![A-Za-z0-9]))[A-Za-z]{2,24})"
        r"(?![A-Za-z0-9-])",
        "@",
    ),
    _rule(
        rf"(?<![A-Za-z0-9_.+@/-])(?P<user>[A-Za-z_][A-Za-z0-9_.-]{{0,63}}+)@(?P<host>{HOST})(?![A-Za-z0-9_@(/])",
        "@",
        is_login,
    ),
    _rule(rf"(?<![0-9A-Za-z])(?P<uuid>{_HEX}{{8}}-(?:{_HEX}{{4}}-){{3}}{_HEX}{{12}})(?![0-9A-Za-z])", "-"),
    # MAC: six pairs or more (InfiniBand has 8 and 20), Cisco's three fours, twelve digits that are called one.
    _rule(rf"(?<![0-9A-Za-z:.])(?P<mac>{_HEX}{{2}}(?::{_HEX}{{2}}){{5,31}}+)(?!:?[0-9A-Za-z])", ":", is_mac),
    _rule(rf"(?i:mac|addr|address|地址)[:：]\s?(?P<mac>{_HEX}{{2}}(?::{_HEX}{{2}}){{5}})(?![0-9A-Za-z:])", ":", is_mac),
    _rule(rf"(?<![0-9A-Za-z-])(?P<mac>{_HEX}{{2}}(?:-{_HEX}{{2}}){{5}})(?![0-9A-Za-z-])", "-", is_mac),
    _rule(rf"(?<![0-9A-Za-z.])(?P<mac>{_HEX}{{4}}(?:\.{_HEX}{{4}}){{2}})(?!\.?[0-9A-Za-z])", ".", is_mac),
    _rule(rf"(?i:\bmac(?:[_ -]?addr(?:ess)?)?)[\"']?\s?[=:：]?\s?[\"'\[]?(?P<mac>{_HEX}{{12}})(?![0-9A-Za-z])", "mac"),
    # IPv6, perhaps behind `word:`; one before a colon that ends the clause.
    _rule(
        r"(?<![0-9A-Za-z_:.])(?:(?=[0-9A-Fa-f]{0,4}[g-zG-Z_]|[0-9A-Fa-f]{5})[A-Za-z_][A-Za-z0-9_]{0,60}+:)?"
        r"(?P<ip>(?=[0-9A-Fa-f]{0,4}:)[0-9A-Fa-f:]{2,45}+(?<![^:]:)(?:(?:\.[0-9]{1,3}){3})?(?:%[A-Za-z0-9._-]{1,16})?)"
        r"(?![0-9A-Za-z_])",
        ":",
        is_ipv6,
    ),
    _rule(r"(?<![0-9A-Za-z_:.])(?P<ip>(?=[0-9A-Fa-f]{1,4}:)[0-9A-Fa-f:]{2,45})(?=:(?![0-9A-Za-z:]))", ":", is_ipv6),
    _rule(
        r"(?<![0-9A-Za-z])(?<![0-9]\.)(?P<ip>[0-9]{1,3}(?:\.[0-9]{1,3}){3})(?!\.?[0-9A-Za-z])",
        ".",
        is_address,
    ),
)

_PATHS = (
    # In quotes or brackets, blanks and all.
    *(
        _rule(
            rf"{a}(?P<path>(?:[/~]|[A-Za-z]:[\\/]|\\\\)[^{a}{b}<>\n]{{1,1024}}?)(?=\\{{0,3}}{b})",
            a.removeprefix("\\"),
            is_private_path,
        )
        for a, b in ('""', "''", "``", (r"\[", r"\]"), "“”", "‘’", "「」", "《》", "【】")
    ),
    _rule(
        r"(?<![A-Za-z0-9])(?P<path>[A-Za-z]:(?:\\{1,4}|/)"
        rf"(?:(?:Documents and Settings|Program Files(?: \(x86\))?)(?=\\))?(?:{PATH_CHAR}|[\\/])*+)",
        ":\\ :/",
        is_private_path,
    ),
    _rule(
        rf"(?<![A-Za-z0-9\\:])(?P<path>\\{{2,4}}[A-Za-z0-9][A-Za-z0-9.-]{{1,62}}\\{{1,2}}(?:{PATH_CHAR}|[\\/])++)",
        "\\\\",
        is_private_path,
    ),
    _rule(
        r"(?:(?<![A-Za-z0-9_.~/$}*\\-])|(?<=\s-[ILR]))(?P<path>(?:~[a-z0-9_]{0,31})?(?!//)"
        rf"(?:/{{1,8}}(?:{PATH_CHAR}|\\ )++)++/?(?<!\.))",
        "/",
        is_private_path,
    ),
)

_HOSTS = (
    _rule(
        rf"\b{_MONTH} {{1,2}}\d{{1,2}} (?:\d{{4}} )?{_CLOCK} (?P<host>{HOST}) "
        r"(?=[\w./@()-]{1,64}(?:\[\d{1,10}\])?:)",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        is_host,
    ),
    _rule(
        rf"\d{{4}}-\d{{2}}-\d{{2}}T{_CLOCK}(?:Z|[+-]\d{{2}}:?\d{{2}}) (?P<host>{HOST}) "
        r"(?=(?:kernel|sudo|su|systemd|dockerd|sshd|cron|CRON|[\w./@-]{1,64}\[\d{1,10}\]):)",
        "t",
        is_host,
    ),
    _rule(
        r"://(?:[\w.-]{1,64}@)?(?P<host>(?=[0-9.]{0,64}[A-Za-z])[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?)"
        r"(?![A-Za-z0-9@])",
        "://",
        is_host,
    ),
    _rule(
        rf"(?<![A-Za-z])(?:{_HOST_WORD}){SET}[\"'\[]?(?P<host>{HOST}){_ALONE}",
        "hostname host_name host-name computer master_addr server 主机 服务器 机器名",
        is_host,
    ),
    _rule(
        r"(?<![A-Za-z0-9_.])(?i:host|server|peer|machine)(?:=|\\{0,3}[\"']:\s?\\{0,3}[\"'])"
        rf"(?P<host>[A-Za-z][A-Za-z0-9.-]{{2,63}}){_ALONE}",
        "host server peer machine",
        is_host,
    ),
    _rule(
        r"(?:\b(?i:ssh|scp|ping|telnet|hosts?(?:name)?|servers?|nodes?|machine|peer|worker|connect(?:ing|ed|ion)? to|"
        r"node[_ -]?name|login to|reach|resolve)|(?:主机|服务器|节点|机器|连接到?|登录到?))[\"']?\s?[:：=]?\s?[\"'\[]?"
        rf"(?P<host>{HOST}){_ALONE}",
        "ssh scp ping telnet host server node machine peer worker connect login reach resolve "
        "主机 服务器 节点 机器 连接 登录",
        is_machine,
    ),
    _rule(rf"\bfrom (?P<host>{HOST})(?=:\d{{1,5}}\b| port \d)", "from", is_machine),
    _rule(r"(?<![A-Za-z0-9.-])(?P<host>ip(?:-\d{1,3}){4})(?![A-Za-z0-9-])", "ip-"),
    _rule(rf"(?<![A-Za-z0-9_.@/$\\-])(?P<host>{FQDN})(?![A-Za-z0-9_(-]|\.[A-Za-z0-9])", ".", is_fqdn),
)

_USERS = (
    _rule(
        rf"(?<![A-Za-z0-9.])(?:{USER_WORD}){SET}[\"'\[]?(?:[A-Za-z0-9-]{{1,32}}\\{{1,4}})?(?P<user>{NAME})",
        "user login logname acct account owner uname 用户 登录名 账号 帐号 账户 姓名 操作员",
        is_user,
    ),
    _rule(rf"(?<![A-Za-z0-9_.+@/-])(?P<user>{_LOGIN})(?=@<(?:ip|host)-[0-9])", "@<", is_user),
    # A line of `ls -l`; the group first, in the next round the owner.
    _rule(
        rf"[dl-](?:[r-][w-][xsStT-]){{3}}[.+]? {{1,4}}\d{{1,6}} (?:\S{{1,40}} {{1,9}})?(?P<user>{_LOGIN})(?= )",
        "r- rw rx",
        is_user,
    ),
    _rule(rf"\b(?:chown (?:-R )?|sudo -u )(?P<user>{_LOGIN})", "chown sudo", is_user),
    _rule(rf"(?<=[0-9]\()(?P<user>{_LOGIN})(?=\))", "uid= gid= groups=", is_user),
    _rule(rf"(?<![A-Za-z0-9_.-])(?P<user>{_LOGIN})(?=\(uid=\d)", "(uid=", is_user),
    _rule(rf"\b(?:sudo|su|doas)(?:\[\d{{1,10}}\])?: {{1,8}}(?P<user>{_LOGIN}) : ", "sudo su doas", is_user),
    _rule(
        r"\b(?i:log(?:ged|ging)?[ -]?in as|login as|running as|run as|(?:session (?:opened|closed) for|invalid|unknown|"
        r"illegal|authenticating|switch(?:ed)? to|belongs to|owned by) user|(?:accepted|failed) (?:password|publickey) "
        r"for(?: invalid user)?|owned by|(?:submitted|started|launched|killed) by user|--user(?:name)?|useradd|"
        rf"su -)[ :=]\s?[\"']?(?P<user>{NAME})(?![A-Za-z0-9(:/])",
        "as user by for su",
        is_user,
    ),
    _rule(
        rf"\b(?i:user) [\"']?(?P<user>{_LOGIN})[\"']? "
        r"(?=logged|from|has no|is not (?:in|allowed)|does not exist|not in)",
        "user",
        is_user,
    ),
    _rule(
        rf"用户\s?[\"'“「]?(?P<user>{_LOGIN})[\"'”」]?\s?(?=登[录陆]|无权|没有|执行|提交|启动|不在|不存在)",
        "用户",
        is_user,
    ),
    _rule(
        rf"(?:以|登[录陆]为|切换到用户?)\s?(?P<user>{_LOGIN})(?=\s?(?:身份|用户|登[录陆]|的身份|账号)|\s{{0,2}}\Z)",
        "以 登 切换",
        is_user,
    ),
    _rule(
        r"(?<![A-Za-z0-9_])(?:home|Users)[/\\]{1,2}(?P<user>[A-Za-z_\u4e00-\u9fff][\w.-]{0,63})", "home users", is_user
    ),
)

_NUMBERS = (
    _rule(
        rf"{SERIAL_WORD}[\"'\]]?\s{{0,12}}(?:[:：=＝]|\bis\b|是|为)?\s{{0,4}}[\"'\[(]?"
        r"(?P<serial>(?:[0-9A-F]{8}(?: [0-9A-F]{8}){1,7})|[A-Za-z0-9][A-Za-z0-9-]{4,47}+)(?![A-Za-z0-9_-])",
        "sn s/n serial imei iccid imsi id tag 号",
        is_serial,
    ),
    _rule(rf"(?<![0-9A-Za-z.])(?P<card>{CARD})(?![0-9A-Za-z])", "19 20", is_card),
    _rule(rf"(?<![0-9A-Za-z.+_-])(?P<phone>{PHONE})(?![0-9A-Za-z_.-])", "1", is_phone),
    _rule(
        r"(?<![0-9A-Za-z.+_-])(?P<phone>(?:\+86[- ]?)?0[1-9][0-9]{1,2}-[0-9]{7,8}|[48]00-[0-9]{3,4}-[0-9]{3,4})"
        r"(?![0-9A-Za-z_.-])",
        "-",
    ),
)

#: In the order in which they are tried.
RULES: tuple[Rule, ...] = (*_URLS, *_SECRETS, *_ADDRESSES, *_PATHS, *_HOSTS, *_USERS, *_NUMBERS)
