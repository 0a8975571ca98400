"""Which part of a path or URL is private, and which part diagnosis needs: extensions, vendors' trees, libraries."""

import re

from assistant.logs.redaction.addresses import is_public

__all__ = ["PATH_CHAR", "is_private_path", "is_private_url", "kept_from"]

#: A character of a path that is not in quotes.
PATH_CHAR = r"[^\s/\\\"'`<>|()\[\]{},;:*?!&=，。；：、！？（）【】「」《》“”‘’…]"
_EXTENSIONS = (
    r"(?:om|exeom|onnx|pb|pbtxt|pt|pth|ckpt|bin|np[yz]|jsonl?|ya?ml|toml|txt|log|so|[aochg]|cc|cpp|cxx|hpp|cu|py[cx]?|sh|ts|"
    r"js|cfg|conf|ini|env|dbg|xml|proto|prototxt|caffemodel|mindir|air|safetensors|gguf|h5|tflite|rknn|hbm|bc|mlu|magicmind|"
    r"cambricon|model|weights|pkl|dat|data|raw|img|jpe?g|png|bmp|yuv|nv12|rgb|wav|mp4|csv|tsv|zip|t?gz|xz|tar|whl|deb|rpm|"
    r"run|ko|elf|core|exe|dll|bat|ps1|md|html|db|sqlite|dump|aclog|key|pem|crt|lock|pid|sock|tmp|bak|old|swp)"
)
_EXTENSION = re.compile(rf"(?:\.{_EXTENSIONS}(?:\.[0-9]{{1,4}}){{0,3}}){{1,2}}\Z", re.IGNORECASE)
_HAS_EXTENSION = re.compile(rf"\.{_EXTENSIONS}(?:\.[0-9]{{1,4}}){{0,3}}(?![A-Za-z0-9_])", re.IGNORECASE)
# An extension stands at most so many characters before the end.
_REACH = 40
#: Trees of the system and of the vendors: the same on every machine.
_PUBLIC_TREES = re.compile(
    r"/(?:usr/(?:local/(?:Ascend|lib|lib64|bin|sbin|include|share|neuware|cambricon|python[0-9.]*|cuda[0-9.-]*|hobot)"
    r"|bin|sbin|lib|lib32|lib64|libexec|include|share|src|hobot|slog)|lib|lib32|lib64|bin|sbin|dev|proc|sys|etc|run|boot"
    r"|var/(?:log/(?:npu|ascend_seclog|messages|syslog|kern\.log|dmesg|auth\.log|nputools_\w+|upgradetool)|run|davinci"
    r"|slogd|driver|queue_schedule)|opt/(?:[Aa]scend|hobot|rockchip|hisi-linux|cambricon|neuware)|root/ascend/log"
    r"|home/(?:HwHiAiUser|HwDmUser|HwBaseUser)(?=/?\Z|/[Aa]scend(?:/log|\Z)))(?=/|\Z)"
    r"|~/(?:ascend/log(?=/|\Z)|\.(?:bashrc|bash_profile|profile|zshrc|condarc|pip/pip\.conf)\Z)"
    r"|[A-Za-z]:[\\/]+(?:Windows|Program Files(?: \(x86\))?)(?=[\\/]|\Z)"
)
_SOMEONE = re.compile(r"[/\\](?:home|Users)[/\\]")
#: From here on a private tree looks like everybody's.
_KNOWN_TAIL = re.compile(
    r"[/\\](?:(?:site|dist)-packages[/\\](?:torch|torch_npu|torchvision|torchair|transformers|vllm|vllm_ascend|mindspore|"
    r"mindie\w*|numpy|onnx|onnxruntime|tbe|te|hccl|acl|amct\w*|auto_tune|op_test_frame|deepspeed|accelerate|ray|rknn\w*|"
    r"hbdk\w*|horizon_\w+|hmct|hb_\w+|megatron|mindspeed|peft|tensorflow|npu_bridge|click|asyncio)(?=[/\\.])"
    r"|(?:ascend-toolkit|nnae|nnrt)[/\\](?=latest|set_env|[0-9])|ascend[/\\]log(?=[/\\]|\Z)"
    r"|Ascend(?=[/\\](?:latest|driver|firmware|nnae|nnrt|opp|compiler|runtime|toolkit|atc|tools|ascend-toolkit|[0-9.]+)"
    r"(?:[/\\]|\Z)|[/\\]?\Z)"
    r"|lib(?:ascend|acl|ge_|graph|hccl|runtime|tsd|dcmi|drv|c10|torch|opapi|nnopbase|msprof|slog|mmpa|error_manager|"
    r"register|platform|alog|profapi|unified|cnrt|cnnl|cndev|cndrv|cnml|magicmind|mm_|rknn|dnn|hb|bpu|onnxruntime|svp|"
    r"securec|crypto|ssl|stdc\+\+|gomp|protobuf|python|awsim|atb|te_)[\w+.-]*\.so[.0-9]*\Z)"
)
# Where people keep their things.
_ROOTS = re.compile(
    r"~|/(?:home|root|mnt|media|srv|Users|tmp|usr|var|opt|workspaces?|nfs|userdata|sdcard|export|scratch|lustre|gpfs|private|"
    r"(?:home|data|disk|ssd|nvme|mnt|hdd)[0-9]{0,3}|work|app|share|shared|storage|cache)(?=/|\Z)"
)
_WEAK_ROOTS = re.compile(r"/(?:data[0-9]*|work|app|share|shared|storage|cache|export|private|media|opt|var)/")
# Names of nodes and tensors begin with a slash, too.
_NODE = re.compile(r"(?:.*/)?(?:[A-Z]\w*|[\w.]*_output_[0-9]+)")
_NODE_WORD = re.compile(
    r"(?:\b(?:node|op|layer|tensor|operator|input|output)s?|算子|节点|张量|层)(?:\s?(?:names?|名称?))?[\"']?[\s:：=\[(\"'`]{0,4}$"
)
_PLACE_WORD = re.compile(
    r"(?:\b(?:file|folder|cd|open|load(?:ing|ed)?|cat|ls|cwd|pwd)|path|dir(?:ectory)?|目录|路径|文件夹?|打开|加载|读取)"
    r"(?:名|name)?[\"']?(?:\s{0,2}(?:is|是|为|to|from))?[\s:：=\[(\"'`“「《]{0,4}$"
)
_VERB = re.compile(r"\b(?:GET|POST|PUT|DELETE|HEAD|PATCH|OPTIONS) $")
_AFTER_PLACEHOLDER = re.compile(r"<[a-z]{2,6}-[0-9]{1,9}>$")
_CJK_TAIL = re.compile(r"(?<=[A-Za-z0-9_.)-])[\u4e00-\u9fff]+\Z")
_CJK_WORDS = re.compile(
    r"(?:文件|目录|路径)?(?:不存在|失败|无法|没有|找不到|打不开|未找到|已存在|报错|出错|加载失败|读取失败|打开失败|权限不足|中找|里面)[\u4e00-\u9fff]*\Z"
)
_URL = re.compile(
    r"(?P<scheme>[A-Za-z][\w+.-]*)://(?:(?P<login>[^@/]*)@)?(?P<host>\[[^\]]*\]|[^:/?#]*)(?::[0-9]*)?(?P<rest>.*)",
    re.DOTALL,
)
_LOOPBACK = ("127.0.0.1", "0.0.0.0", "[::1]", "[::]")


def kept_from(kind: str, item: str) -> int:
    """Return where in an item the part begins that stays, `.om` or `/site-packages/torch/x.py`, or else its end."""
    if kind not in ("path", "url"):
        return len(item)
    end = len(item)
    tail = _CJK_TAIL.search(item) or _CJK_WORDS.search(item)
    if kind == "path" and tail and tail.start() > 1:
        end = tail.start()
    known = _KNOWN_TAIL.search(item, 0, end)
    if known and item.count("/", 0, known.start()) != 1:
        return known.start()
    near = max(0, end - _REACH)
    extension = _EXTENSION.search(item[near:end])
    if extension is None:
        return end
    start = near + extension.start()
    return start if start and item[start - 1] not in "/\\" else end


def is_private_path(match: re.Match[str]) -> bool:
    """Return whether a path says something of its owner; one that is the same everywhere and a node's name do not."""
    path, text, start = match["path"], match.string, match.start("path")
    before = text[max(0, start - 40) : start]
    if (before[-1:] == ">" and _AFTER_PLACEHOLDER.search(before)) or (before[-1:] == " " and _VERB.search(before)):
        return False
    is_quoted = match.start() < start
    if is_quoted and re.search(r"\s[/~-]|:[/~]|[;|&]", path):
        return False
    if _PUBLIC_TREES.match(path) and not _SOMEONE.search(path, 1):
        return False
    return _is_unix(path, before.lower()) if path[0] in "/~" else _is_windows(path)


def _is_windows(path: str) -> bool:
    if path.startswith("\\\\"):
        return re.match(r"\\{2,4}[A-Za-z0-9][\w.-]+\\{1,2}[^\\\s].", path) is not None
    is_deep = path[0].isupper() or len(re.findall(r"[\\/]+", path)) > 1
    return len(path) > 3 and (is_deep or _HAS_EXTENSION.search(path) is not None)


def _is_unix(path: str, before: str) -> bool:
    tail = _CJK_TAIL.search(path)
    named = path[: tail.start()] if tail else path
    is_rooted = _ROOTS.match(path) is not None and "/" in path[1:].rstrip("/")
    if "\u4e00" <= before[-1:] <= "\u9fff":
        return is_rooted
    if _EXTENSION.search(named[-_REACH:]):
        return True
    if _NODE.fullmatch(path) and (not is_rooted or _WEAK_ROOTS.match(path)):
        return False
    if is_rooted:
        return _SOMEONE.match(path) is not None or _NODE_WORD.search(before) is None
    return path.count("/") > 1 and _PLACE_WORD.search(before) is not None and _NODE_WORD.search(before) is None


def is_private_url(match: re.Match[str]) -> bool:
    """Return whether a URL is hidden as a whole; one with nothing but a server and a port keeps its form."""
    found = _URL.match(match["url"])
    if found is None or found["scheme"] == "file" or not found["host"]:
        return False
    if found["login"]:
        return True
    if is_public(found["host"]) or found["host"] in _LOOPBACK:
        return False
    return len(found["rest"]) > 1
