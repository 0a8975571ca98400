"""Seeded makers of private items, with the words around them, and the log lines they are planted in."""

import random
import re
import string
from collections.abc import Callable

Rng = random.Random
FAMILY, GIVEN, WORDS = "张王李赵陈林周吴", "伟芳娜敏静磊洋杰", ["项目", "客户", "训练", "模型", "数据", "质检", "图像"]
NAMES = ["alice", "bob", "zhangwei", "li.ming", "wang_fang", "chenjie", "xiaohong", "maria", "j.smith", "l00512345"]
EXTENSIONS = ["om", "exeom", "onnx", "bin", "py", "json", "log", "npy", "tar.gz"]
ALNUM = string.ascii_letters + string.digits


def some(rng: Rng, chars: str, count: int) -> str:
    return "".join(rng.choice(chars) for _ in range(count))


def word(rng: Rng) -> str:
    return rng.choice([*WORDS, *NAMES, some(rng, string.ascii_lowercase, 7)])


def user(rng: Rng) -> str:
    return rng.choice([rng.choice(NAMES), some(rng, string.ascii_lowercase, 6) + str(rng.randrange(99))])


def host(rng: Rng) -> str:
    name = f"{rng.choice(['node', 'npu', 'gpu-server', 'train', 'infer-a', 'edge'])}-{rng.randrange(1, 400):02}"
    return name + rng.choice(["", "", ".cluster.local", ".lab.internal", ".ai.corp", ".npu.acme.com.cn"])


def ipv4(rng: Rng) -> str:
    last = f"{rng.randrange(256)}.{rng.randrange(1, 255)}"
    return rng.choice([f"10.{rng.randrange(256)}", "192.168", f"172.{rng.randrange(16, 32)}", f"47.{rng.randrange(40, 99)}"]) + "." + last  # fmt: skip


def ipv6(rng: Rng) -> str:
    groups = [some(rng, "0123456789abcdef", 4) for _ in range(7)]
    return rng.choice([f"2001:{':'.join(groups)}", f"fe80::{':'.join(groups[:4])}%eth{rng.randrange(4)}", f"fd{groups[0][:2]}::{groups[1]}", f"2408:{groups[0]}::{groups[1]}".upper()])  # fmt: skip


def mac(rng: Rng) -> str:
    digits = some(rng, "abcdef", 1) + some(rng, "0123456789abcdef", 11)
    pairs = [digits[i : i + 2] for i in range(0, 12, 2)]
    text = rng.choice([":".join(pairs), "-".join(pairs), f"{digits[:4]}.{digits[4:8]}.{digits[8:]}"])
    return rng.choice([text, text.upper()])


def unix_path(rng: Rng) -> str:
    root = rng.choice([f"/home/{user(rng)}", f"/mnt/{word(rng)}", f"/data/{word(rng)}", f"/root/{word(rng)}", f"/tmp/{word(rng)}", f"/opt/{word(rng)}", "~/work"])  # fmt: skip
    return "/".join([root, *(word(rng) for _ in range(rng.randrange(3))), some(rng, string.ascii_lowercase, 8)])


def path(rng: Rng) -> str:
    return rng.choice([unix_path(rng), unix_path(rng) + "." + rng.choice(EXTENSIONS)])


def quoted_path(rng: Rng) -> str:
    inner = path(rng).replace("/", f"/{word(rng)} {word(rng)}/", 3).replace("/", "", 1).lstrip("~")
    left, right = rng.choice(['""', "''", "[]", "“”", "「」"])
    return f"{left}/home/{inner.lstrip('/')}{right}"


def windows_path(rng: Rng) -> str:
    place = f"\\{word(rng)}\\{some(rng, string.ascii_lowercase, 6)}.{rng.choice(EXTENSIONS)}"
    return rng.choice([f"C:\\Users\\{user(rng)}", f"D:\\{word(rng)}", f"\\\\files{rng.randrange(9)}\\share"]) + place


def secret(rng: Rng) -> str:
    value = some(rng, ALNUM, 6) + rng.choice("!@#%^*") + some(rng, ALNUM, 6) + str(rng.randrange(10))
    label = rng.choice(["password=", "passwd: ", "api_key=", "apikey: ", "secret=", "access_token=", "pwd=", "密码：", "口令: ", "密钥=", "DB_PASSWORD=", "--token ", '"password": "', "'secret': '", "令牌："])  # fmt: skip
    return label + value + label[-1] * (label[-1] in "\"'")


def token(rng: Rng) -> str:
    part = [some(rng, ALNUM, 24) + str(rng.randrange(10)) for _ in range(3)]
    return rng.choice(["ghp_" + part[0], "sk-" + part[0], "AKIA" + part[0][:16].upper(), "hf_" + part[0], f"Authorization: Bearer {part[0]}", f"eyJ{part[0]}.{part[1]}.{part[2]}", f"Cookie: session={part[0]}; theme={part[1]}", f"ssh-rsa AAAA{part[0]}{part[1]}", f"-----BEGIN RSA PRIVATE KEY-----\n{part[0]}\n{part[1]}==\n-----END RSA PRIVATE KEY-----"])  # fmt: skip


def email(rng: Rng) -> str:
    return f"{user(rng)}@{rng.choice(['example.com', 'acme.com.cn', 'mail.uni-lab.edu', 'qq.com', 'corp-npu.io'])}"


def url(rng: Rng) -> str:
    login = rng.choice(["", "", f"{user(rng)}:{some(rng, ALNUM, 9)}@"])
    return f"{rng.choice(['http', 'https', 'grpc'])}://{login}{rng.choice([host(rng), ipv4(rng)])}:{rng.randrange(1024, 65535)}/{user(rng)}/{some(rng, ALNUM, 6)}"


def serial(rng: Rng) -> str:
    return rng.choice(["2102312", "0235A", "CN-07", "SN98"]) + some(rng, string.digits + "ABCDEFGHK", 11) + "42"


def card(rng: Rng) -> str:
    body = f"{rng.choice(['110105', '320106', '440305'])}{rng.randrange(1955, 2006)}{rng.randrange(1, 13):02}{rng.randrange(1, 29):02}{rng.randrange(1000):03}"
    return body + "10X98765432"[sum(int(digit) * (1 << (17 - i)) for i, digit in enumerate(body)) % 11]


def phone(rng: Rng) -> str:
    a, b, c = f"1{rng.randrange(30, 99)}", some(rng, string.digits, 4), some(rng, string.digits, 4)
    return rng.choice(
        [
            f"手机 {a}{b}{c}",
            f"联系电话：{a}{b}{c}",
            f"+86 {a}{b}{c}",
            f"+86-{a}-{b}-{c}",
            f"{a} {b} {c}",
            f"phone: {a}{b}{c}",
        ]
    )


def uuid(rng: Rng) -> str:
    return "-".join(some(rng, "0123456789abcdef", count) for count in (8, 4, 4, 4, 12))


def labelled(labels: list[str], make: Callable[[Rng], str]) -> Callable[[Rng], tuple[str, str]]:
    """Make an item with the words around it that say what it is."""

    def made(rng: Rng) -> tuple[str, str]:
        item = make(rng)
        return rng.choice(labels).replace("{}", item), item

    return made


def bare(make: Callable[[Rng], str]) -> Callable[[Rng], tuple[str, str]]:
    """Make an item that needs no words; what has to go is its value without label, quotes and extension."""

    def made(rng: Rng) -> tuple[str, str]:
        text = make(rng)
        item = re.sub(r"^(?:[-\w\u4e00-\u9fff\"']*(?:[=：]|:\s|\s|: ?[\"'])|[\"'\[“「])[\"']?|[\"'\]”」]$", "", text)
        return text, re.sub(rf"\.(?:{'|'.join(map(re.escape, EXTENSIONS))})$", "", item)

    return made


def last_part(make: Callable[[Rng], tuple[str, str]]) -> Callable[[Rng], tuple[str, str]]:
    """Make an item of which the last part has to go, behind all blanks."""

    def made(rng: Rng) -> tuple[str, str]:
        text, item = make(rng)
        return text, re.split("[ /]", item)[-1]

    return made


#: Kind -> maker of (text to plant, what must be gone).
KINDS: dict[str, Callable[[Rng], tuple[str, str]]] = {
    "ipv4": labelled(["{}", "ip {}", "connect to {}:8080", "地址 {}", "peer={}", "[{}]", "{}/24", "rank 3 at {}", "服务器{}端口22"], ipv4),
    "ipv6": labelled(["{}", "addr {}", "peer:{}", "地址：{}"], ipv6),
    "mac": labelled(["{}", "mac {}", "hwaddr={}", "网卡 {}"], mac),
    "path": bare(path),
    "quoted path": last_part(bare(quoted_path)),
    "windows path": bare(windows_path),
    "user": labelled(["user={}", "username: {}", "uid=1000({})", "login as {}", "USER={}", "LOGNAME={}", "session opened for user {}(uid=1001)", "用户名：{}", '"user": "{}"', "in home/{}", "sudo: {} : TTY=pts/0", "Accepted password for {}", "用户 {} 登录"], user),
    "name": labelled(["用户名：{}", "姓名: {}，", "操作员：{}"], lambda rng: rng.choice(FAMILY) + rng.choice(GIVEN)),
    "host": labelled(["hostname={}", "ssh {}", "node {}", "tcp://{}:29500", "主机名：{}", '"host": "{}"', "服务器 {}", "on host {}", "root@{}"], host),
    "login": labelled(["{}:~$ ls", "scp a.om {}:", "来自 {} 的连接"], lambda rng: f"{user(rng)}@{host(rng)}"),
    "serial": labelled(["SN: {}", "serial number: {}", '"sn": "{}"', "序列号：{}", "Board SN {}", "IMEI={}", "chip_id={}", "产品序列号 {}"], serial),
    "secret": bare(secret),
    "token": bare(token),
    "email": labelled(["{}", "mail={}", "邮箱：{}", "<{}>"], email),
    "url": labelled(["{}", "GET {}", "访问 {} 失败", '"{}"'], url),
    "card": labelled(["{}", "身份证号 {}", "id card: {}"], card),
    "phone": bare(phone),
    "uuid": labelled(["{}", "uuid={}", "实例 {}"], uuid),
}  # fmt: skip

TEMPLATES = [
    "[ERROR] RUNTIME(4211,python3):2026-01-02-03:04:05.678.901 [demo_task.cc:77]4300 DemoWait: {} , retCode=0x91",
    "[ERROR] HCCL(60211,python3):2026-01-02-03:04:05.678.901 [socket.cc:106] [60211][Listen] {} ret[15]",
    "[NDRV]demo fail, {} , ret: 12",
    "[ERROR][model.c:83]8 hal execute failed, {} ret[-1].",
    "Jan  2 03:04:05 board01 demo[42]: {}",
    "2026-01-02T03:04:05.678901234Z stderr F {}",
    'infer-1  | level=error msg="run" detail {}',
    "(EngineCore_0 pid=7) ERROR 01-02 03:04:05 [core.py:12] {}",
    '    raise RuntimeError("x")  # {}',
    "RuntimeError: [Errno 2] {}",
    "加载模型失败，{} ，错误码 145002",
    "2026-01-02 03:04:05,678 - demo.tool - ERROR - {}",
    "E RKNN: [03:04:05.678] {} (job timeout)",
    "[rank3]: Traceback: {}",
    '{{"time": "03:04:05", "level": "error", "at": {}, "code": 507899}}',
]
