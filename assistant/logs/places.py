"""Which part of a path or URL is private, and which part diagnosis needs: extensions, product trees, known libraries."""

import re

from assistant.logs.addresses import is_public

__all__ = ["PATH_CHAR", "is_private_path", "is_private_url", "kept_from"]

#: A character of a path that is not in quotes.
PATH_CHAR = r"[^\s/\\\"'`<>|()\[\]{},;:*?!&=，。；：、！？（）【】「」《》“”‘’…]"
_EXTENSIONS = (
    "om exeom onnx pb pbtxt pt pth ckpt bin npy npz json yaml yml toml txt log so a o c cc cpp cxx h hpp py pyc pyx sh cfg "
    "conf ini xml prototxt caffemodel mindir air safetensors h5 tflite rknn hbm bc img jpg jpeg png bmp yuv nv12 wav mp4 "
    "csv tsv zip gz tgz xz tar whl deb rpm run ko md html db sqlite dump dat data pkl model weights mlu magicmind cambricon "
    "gguf aclog core exe dll bat ps1 env key pem crt gdb elf raw rgb jsonl proto lock pid sock tmp bak old swp cu ts js"
).split()
_EXTENSION = re.compile(
    rf"(?:\.(?:{'|'.join(sorted(_EXTENSIONS, key=len, reverse=True))})(?:\.[0-9]{{1,4}}){{0,3}}){{1,2}}\Z",
    re.IGNORECASE,
)
_HAS_EXTENSION = re.compile(rf"\.(?:{'|'.join(_EXTENSIONS)})(?:\.[0-9]{{1,4}}){{0,3}}(?![A-Za-z0-9_])", re.IGNORECASE)
#: Trees of the system and of the vendors: the same on every machine.
_PUBLIC_TREES = re.compile(
    r"/(?:usr/(?:local/(?:Ascend|lib|lib64|bin|sbin|include|share|neuware|cambricon|python[0-9.]*|cuda[0-9.-]*|hobot)"
    r"|bin|sbin|lib|lib32|lib64|libexec|include|share|src|hobot|slog)|lib|lib32|lib64|bin|sbin|dev|proc|sys|etc|run|boot"
    r"|var/(?:log/(?:npu|ascend_seclog|messages|syslog|kern\.log|dmesg|auth\.log|nputools_\w+|upgradetool)|run|davinci|slogd|driver|queue_schedule)"
    r"|opt/(?:Ascend|ascend|hobot|rockchip|hisi-linux|cambricon|neuware)|root/ascend/log"
    r"|home/(?:HwHiAiUser|HwDmUser|HwBaseUser)(?:/(?:[Aa]scend|hdc\w*|ide_daemon|aicpu_kernels|devdrv))?(?=/?\Z|/[Aa]scend/log)"
    r")(?=/|\Z)|~/ascend/log(?=/|\Z)|~/\.(?:bashrc|bash_profile|profile|zshrc|condarc|pip/pip\.conf)\Z|[A-Za-z]:[\\/]+(?:Windows|Program Files(?: \(x86\))?)(?=[\\/]|\Z)",
)
_SOMEONE = re.compile(r"[/\\](?:home|Users)[/\\]")
#: From here on a private tree looks like everybody's.
_KNOWN_TAIL = re.compile(
    r"[/\\](?:(?:site|dist)-packages[/\\](?:torch|torch_npu|torchvision|torchair|transformers|vllm|vllm_ascend|mindspore|mindie\w*|numpy|onnx|"
    r"onnxruntime|tbe|te|hccl|acl|amct\w*|auto_tune|op_test_frame|deepspeed|accelerate|ray|rknn\w*|hbdk\w*|horizon_\w+|hmct|"
    r"hb_\w+|megatron|mindspeed|peft|tensorflow|npu_bridge|click|asyncio)(?=[/\\.])"
    r"|(?:ascend-toolkit|nnae|nnrt)[/\\](?=latest|set_env|[0-9])|ascend[/\\]log(?=[/\\]|\Z)|Ascend(?=[/\\](?:latest|driver|firmware|nnae|nnrt|opp|compiler|runtime|toolkit|atc|tools|ascend-toolkit|[0-9.]+)(?:[/\\]|\Z)|[/\\]?\Z)"
    r"|lib(?:ascend|acl|ge_|graph|hccl|runtime|tsd|dcmi|drv|c10|torch|opapi|nnopbase|msprof|slog|mmpa|error_manager|register|"
    r"platform|alog|profapi|unified|cnrt|cnnl|cndev|cndrv|cnml|magicmind|mm_|rknn|dnn|hb|bpu|onnxruntime|svp|securec|crypto|ssl|"
    r"stdc\+\+|gomp|protobuf|python|awsim|atb|te_)[\w+.-]*\.so(?:[.0-9]*)\Z)"
)
_ROOTS = re.compile(
    r"~|/(?:home|root|mnt|media|srv|Users|tmp|usr|var|opt|workspace|workspaces|nfs|userdata|sdcard|export|scratch|lustre|gpfs|private|"
    r"(?:home|data|disk|ssd|nvme|mnt|hdd)[0-9]{0,3}|work|app|share|shared|storage|cache)(?=/|\Z)"
)
_WEAK_ROOTS = re.compile(r"/(?:data[0-9]*|work|app|share|shared|storage|cache|export|private|media|opt|var)/")
_NODE = re.compile(r"(?:.*/)?(?:[A-Z]\w*|[\w.]*_output_[0-9]+)")
_NODE_WORD = re.compile(
    r"(?i:\b(?:node|op|layer|tensor|operator|input|output)s?|算子|节点|张量|层)(?:\s?(?i:names?|名称?))?[\"']?[\s:：=\[(\"'`]{0,4}$"
)
_PLACE_WORD = re.compile(
    r"(?i:\b(?:path|file|dir|directory|folder|cd|open|mkdir|load(?:ing|ed)?|cat|ls|workdir|cwd|pwd)|path|dir|目录|路径|文件夹?|打开|加载|读取)"
    r"(?:名|(?i:name))?[\"']?(?i:\s{0,2}(?:is|是|为|to|from))?[\s:：=\[(\"'`“「《]{0,4}$"
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
    """Return where in an item the part begins that stays readable: `.om`, `/site-packages/torch/x.py`; its end if none."""
    if kind not in ("path", "url"):
        return len(item)
    end = len(item)
    tail = _CJK_TAIL.search(item) or _CJK_WORDS.search(item)
    if kind == "path" and tail and tail.start() > 1:
        end = tail.start()
    known = _KNOWN_TAIL.search(item, 0, end)
    if known and known.start():
        return known.start()
    extension = _EXTENSION.search(item[max(0, end - 40) : end])
    if extension is None:
        return end
    start = max(0, end - 40) + extension.start()
    return start if start and item[start - 1] not in "/\\" else end


def is_private_path(match: re.Match[str]) -> bool:
    """Return whether a path says something about its owner, and whether it is a path at all: node names begin with / too."""
    path, text, start = match["path"], match.string, match.start("path")
    before = text[max(0, start - 40) : start].rpartition("\n")[2]
    if (before[-1:] == ">" and _AFTER_PLACEHOLDER.search(before)) or (before[-1:] == " " and _VERB.search(before)):
        return False
    quote = match.start() < start
    if quote and re.search(r"\s[/~-]|:[/~]|[;|&]", path):
        return False
    if _PUBLIC_TREES.match(path) and not _SOMEONE.search(path, 1):
        return False
    if path[0] not in "/~":
        return _is_windows(path)
    return _is_unix(path, before, blanks=quote and " " in path)


def _is_windows(path: str) -> bool:
    if path.startswith("\\\\"):
        return re.match(r"\\{2,4}[A-Za-z0-9][\w.-]+\\{1,2}[^\\\s].", path) is not None
    separators = len(re.findall(r"[\\/]+", path))
    return len(path) > 3 and (path[0].isupper() or separators > 1 or _HAS_EXTENSION.search(path) is not None)


def _is_unix(path: str, before: str, *, blanks: bool) -> bool:
    tail = _CJK_TAIL.search(path)
    named = path[: tail.start()] if tail else path
    is_rooted = _ROOTS.match(path) is not None and "/" in path[1:].rstrip("/")
    if "\u4e00" <= before[-1:] <= "\u9fff":
        return is_rooted
    if _EXTENSION.search(named[-40:]):
        return True
    is_node = _NODE.fullmatch(path) is not None and (not is_rooted or _WEAK_ROOTS.match(path) is not None)
    if is_node or (_NODE_WORD.search(before) and not _SOMEONE.match(path)):
        return False
    if is_rooted:
        return True
    return path.count("/") > 1 and not blanks and _PLACE_WORD.search(before) is not None


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
