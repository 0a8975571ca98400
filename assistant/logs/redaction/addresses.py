"""Whether what looks like an address or a host name is one: versions, clocks, slices and modules are not.

Each function is told a match and reads a bounded stretch of the text around it.
"""

import ipaddress
import re

__all__ = [
    "FQDN",
    "HOST",
    "is_address",
    "is_fqdn",
    "is_host",
    "is_ipv6",
    "is_login",
    "is_mac",
    "is_machine",
    "is_public",
]

#: A host name, its labels and no more.
HOST = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,62}[A-Za-z0-9])?){0,6}"
_PRIVATE_TOP = "local|lan|internal|intranet|corp|localdomain"
_TOP = f"{_PRIVATE_TOP}|com|cn|org|edu|gov|net|io"
#: A name in a domain.
FQDN = rf"(?:[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.){{1,6}}(?:{_TOP})"

#: Sites of vendors, projects and mirrors; everybody's, so they say nothing of the user.
_PUBLIC = re.compile(
    r"(?:[\w.-]+\.)?(?:hiascend\.com|gitee\.com|gitcode\.(?:com|net)|github\.com|github\.io|githubusercontent\.com|"
    r"huggingface\.co|hf-mirror\.com|hf\.co|modelscope\.cn|pypi\.org|pythonhosted\.org|python\.org|pytorch\.org|onnx\.ai|"
    r"onnxruntime\.ai|mindspore\.cn|openeuler\.org|tuna\.tsinghua\.edu\.cn|aliyun\.com|docker\.io|docker\.com|quay\.io|"
    r"kernel\.org|ubuntu\.com|debian\.org|gnu\.org|apache\.org|stackoverflow\.com|wikipedia\.org|w3\.org|"
    r"readthedocs\.io|horizon\.(?:cc|auto)|cambricon\.com|rock-chips\.com|numpy\.org|tensorflow\.org|nvidia\.com|"
    r"conda\.io|anaconda\.(?:com|org)|cmake\.org|vllm\.ai|ray\.io|aka\.ms|json\.org|"
    r"tpumlir\.org|infoq\.cn|csdn\.net|zhihu\.com|cnblogs\.com|opencv\.org|llvm\.org)"
    r"|(?:www|support|e|developer|bbs|forum|info)\.huawei\.com|(?:repo|mirrors|www|support)\.huaweicloud\.com"
    r"|(?:www|support|docs)\.hisilicon\.com|ascendhub\.huawei\.com|localhost(?:\.localdomain)?",
    re.IGNORECASE,
)
_NO_HOST = re.compile(
    r"(?i:localhost|stdout|stderr|trace|debug|info|event|notice|warn|warning|err|error|critical|fatal|memory|device|cpu|"
    r"npu|gpu|buffer|addr|address|true|false|none|null|host|server|client|unknown|mem|ptr|size|name|failed|failure|is|"
    r"not|invalid|empty|timeout|ok|kernel|stream|model|to|default|any|all|auto|yes|no|on|off|error|errors|ip|port|"
    r"ascend[0-9a-z]*|davinci[0-9a-z]*|hisi[0-9a-z]*)|[0-9.]+|v?[0-9]+(?:\.[0-9]+)*[a-z]{0,5}[0-9]*"
)
_MACHINE = re.compile(
    r"(?=[A-Za-z0-9.-]*[0-9])[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)+(?:\.[A-Za-z0-9.-]+)?"
    r"|(?i:node|host|server|srv|worker|master|gpu|npu|compute|vm|ecs|train|infer|k8s)[0-9]{2,5}"
)
# Parts of a graph, files and packages that are spelt like machines.
_NO_MACHINE = re.compile(
    r"(?i:(?:layer|block|conv|stage|op|step|rank|device|card|chip|stream|task|core|thread|group|queue|int|fp|bf|"
    r"float|utf|iso|sha|md|x|rc|cann|python|torch|sample|epoch|batch|head|expert|aicore|aicpu)[0-9]*-.*)"
    r"|.*\.(?:py|c|cc|cpp|h|so|om|onnx|json|log)"
)
_HARMLESS = ("127.", "255.255.", "0.")
# These read text in small letters.
_LINK = r"(?:\s|[:：=\[('\"`>~^#_/-]|\bis\b|\bwas\b|\bof\b|是|为|号|至|到)*$"
_VERSION = re.compile(
    r"(?:versions?|(?<![a-z])vers?|(?<![a-z0-9-])v|release|\brel|revision|\brev|\bbuild|\bcann|\bhdk|\bsection|\bsec\.?|"
    r"chapter|clause|\bpatch|\bnpu-smi|rfc|版本|补丁|章节?|第|版|小节)" + _LINK
)
_PRODUCT = re.compile(
    r"(?:driver|firmware|\bfw|software|toolkit|kernels?|nnae|nnrt|mindspore|mindie|mindx|torch|torch_npu|python|onnx|"
    r"runtime|compiler|sdk|bsp|package|pkg|euleros|openeuler|ubuntu|centos|kylin|uos|linux|chrome|mcu|bios|bmc|"
    r"lib\w*|opset|tensorflow|aicpu|固件|驱动|软件包?|升级|回退)" + _LINK
)
_LISTED = re.compile(
    r"[0-9]{1,4}(?:\.[0-9]{1,4}){1,4}\s{0,2}(?:,|，|、|/|;|and|or|to|和|或|到|至|与|->|→|~|-|vs\.?)\s{0,2}$"
)
_ABOUT_VERSION = re.compile(
    r"(?:version|upgrad|downgrad|release|installed|requires?|compatib|版本|升级|回退|降级|配套|安装)"
)
# What all of these have a part of: a quick look before the slow ones.
_HINT = re.compile(
    r"(?:ver|\bv|rel|rev|build|cann|hdk|sec|chapter|clause|patch|smi|rfc|drive|firm|fw|soft|kit|kernel|nn|mind|torch|"
    r"python|onnx|runtime|compiler|sdk|bsp|pack|pkg|os\b|euler|ubuntu|kylin|linux|chrome|mcu|bios|bmc|lib|opset|flow|aicpu|grad|"
    r"install|require|compat|版|补丁|章|第|小节|固件|驱动|软件|升级|回退|降级|配套|安装)"
)
_OWN_NETWORK = re.compile(
    r"10\.|192\.(?:168|0\.2)\.|172\.(?:1[6-9]|2[0-9]|3[01])\.|169\.254\.|198\.51\.100\.|203\.0\.113\."
)
_AFTER_VERSION = re.compile(r"\s?(?:版|version\b|release\b|rc[0-9]|driver|firmware|toolkit)")
_NETWORK = re.compile(
    r"(?:\bip|addr|host|server|peer|client|remote|gateway|dns|ping|connect|listen|bind|route|subnet|\beth[0-9]|socket|"
    r"tcp|udp|http|ssh|port|\bfrom|\bat\b|node|地址|主机|服务器|网关|连接|端口|来自|节点)"
)
_PORT = re.compile(r":[0-9]{1,5}(?![0-9])|/[0-9]{1,2}(?![0-9.])")
_GLUED = re.compile(r"[a-z][a-z0-9_.+]{0,22}[-_/]$")
_COMPARED = re.compile(r"(?:[=~<>!]=|[<>])\s?$")
_IP_START = re.compile(r"(?i:2[0-9a-f]{3}|3[0-9a-f]{3}|f[cde][0-9a-f]{2}|64:ff9b|::ffff):")


def is_public(host: str) -> bool:
    """Return whether a host is a well-known public one, or the machine itself."""
    return _PUBLIC.fullmatch(host) is not None


def is_address(match: re.Match[str]) -> bool:
    """Return whether four numbers are an IPv4 address of somebody, not a version, section, mask or loopback."""
    item, text = match["ip"], match.string
    start, end = match.span("ip")
    octets = item.split(".")
    if any(int(octet) > 255 or (octet[0] == "0" and len(octet) > 1) for octet in octets):
        return False
    if item.startswith(_HARMLESS):
        return False
    before = text[max(0, start - 48) : start].lower()
    after = text[end : end + 24].lower()
    if _COMPARED.search(before[-3:]) or _AFTER_VERSION.match(after):
        return False
    is_own = _OWN_NETWORK.match(item) is not None
    if _HINT.search(before) and _is_version(before, is_own=is_own):
        return False
    if is_own or _PORT.match(text, end):
        return True
    return _GLUED.search(before[-24:]) is None and _is_network(item, before, after)


def _is_version(before: str, *, is_own: bool) -> bool:
    """Return whether the words before say that a version follows; before an own network's address plainly."""
    if _VERSION.search(before):
        return True
    is_about = _ABOUT_VERSION.search(before) is not None
    listed = _LISTED.search(before)
    if listed and (is_about or _VERSION.search(before[: listed.start()])):
        return True
    return not is_own and (is_about or _PRODUCT.search(before) is not None)


def _is_network(item: str, before: str, after: str) -> bool:
    """Return whether a public address is likely: rarely are all its numbers as small as those of a version."""
    return any(int(octet) > 30 for octet in item.split(".")) or _NETWORK.search(before + " " + after) is not None


def is_ipv6(match: re.Match[str]) -> bool:
    """Return whether hexadecimal groups are an IPv6 address of somebody, not a clock, a slice or a C++ scope."""
    item = match["ip"]
    if item.count(":") < 2 or not ("::" in item or item.count(":") == 7 or "." in item):
        return False
    bare = item.partition("%")[0]
    try:
        address = ipaddress.IPv6Address(bare)
    except ValueError:
        return False
    start, end = match.span("ip")
    around = match.string[max(0, start - 2) : start], match.string[end : end + 1]
    if re.match(r"[\w)\]]\[", around[0]) and around[1] in ("]", ",") and bare.replace(":", "").isdigit():
        return False
    if address.is_loopback or address.is_unspecified:
        return False
    return _IP_START.match(bare) is not None or (
        bare.count(":") == 7 and re.search("[A-Fa-f]|[0-9]{4}", bare) is not None
    )


def is_mac(match: re.Match[str]) -> bool:
    """Return whether hexadecimal pairs are a hardware address, not a clock, a broadcast or an empty one."""
    item, text = match["mac"], match.string
    digits = re.sub("[^0-9a-f]", "", item.casefold())
    if digits in (len(digits) * "0", len(digits) * "f"):
        return False
    if digits.isdigit() and ":" not in item:
        before = text[max(0, match.start() - 24) : match.start()].casefold()
        if "mac" in before or "地址" in before or "hwaddr" in before or "ether" in before:
            return True
        month, day, hour = (int(digits[i : i + 2]) for i in (2, 4, 6))
        return "-" in item and (month > 12 or day > 31 or hour > 23)
    return True


def is_host(match: re.Match[str]) -> bool:
    """Return whether a word where a host name belongs is one."""
    host = match["host"]
    return not (is_public(host) or _NO_HOST.fullmatch(host))


def is_machine(match: re.Match[str]) -> bool:
    """Return whether a word behind `node` or `server` is spelt like a machine: with a hyphen and a number."""
    host = match["host"]
    return _MACHINE.fullmatch(host) is not None and not _NO_MACHINE.fullmatch(host) and is_host(match)


def is_login(match: re.Match[str]) -> bool:
    """Return whether `a@b` is a user at a host, not a package, a symbol's version or a node of a device tree."""
    user, host = match["user"], match["host"]
    if re.fullmatch(r"(?i:plt|got|latest|main|master|stable|default|service|sha256|next|head|.*\.service)", host):
        return False
    if re.match(r"(?i:GLIBC|LIBC|GCC|CXX|OPENSSL)", host) or re.fullmatch(
        r"[0-9a-fA-F]{3,16}|[0-9.]+|v[0-9].*|[0-9]{4}-[0-9]{2}-.*", host
    ):
        return False
    return user != "git" and not is_public(host)


def is_fqdn(match: re.Match[str]) -> bool:
    """Return whether dotted words are a host in a domain, not a module, an attribute or a public site."""
    host = match["host"]
    labels = host.casefold().split(".")
    top = labels[-1]
    if is_public(host) or host != host.casefold():
        return False
    has_shape = any("-" in label or any(char.isdigit() for char in label) for label in labels[:-1])
    if top in _PRIVATE_TOP.split("|") or top in ("net", "io"):
        port = re.match(r":[0-9]{2,5}\b", match.string[match.end("host") : match.end("host") + 7])
        return has_shape or port is not None or (labels[-2:] == ["cluster", "local"])
    return True
