#!/usr/bin/env python3
"""Writes Accel-Sim traces (tracer version 4, Volta) of the four kernels of `wm bench sim`.

One trace instruction per PTX instruction that a warp executes, so the counts equal those of the cycle machine.
No kernel diverges: all warps of a kernel follow one path, and only addresses differ between warps.
usage: traces.py FOLDER full|short|medium|tiny [kernel ...]

`short` keeps the residency of the SMs and cuts the work: 1,280 blocks of vecadd, 3 of 16 tiles of sgemm, 14 of 47
rounds of fma, and for gather 80 blocks with two of 16 gathers and an eighth of the other instructions a warp, so that
the mix of instructions remains. `medium` differs in gather only, which has all 512 blocks.
`tiny` has 640 blocks of vecadd, 3 tiles of sgemm, 10 rounds of fma, and two gathers: `gather` with all 512 blocks and
one of 16 gathers a warp (12 instructions; an exact share would be 11.5), and `gather16` for a GPU of 16 SMs with 80
blocks and two.
"""
import os, random, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
OPCODES = [  # prefix of the PTX opcode, opcode of the SASS
    ("ld.param", "MOV"), ("ld.global", "LDG.E.SYS"), ("st.global", "STG.E.SYS"), ("ld.shared", "LDS.U.32"),
    ("st.shared", "STS"), ("bar.sync", "BAR.SYNC"), ("fma.rn.f32", "FFMA"), ("add.f32", "FADD"), ("add.s", "IADD3"),
    ("mad.lo", "IMAD"), ("mul.wide", "IMAD.WIDE.U32"), ("mul.lo", "IMAD"), ("shl.b", "SHF.L.U32"), ("and.b32", "LOP3.LUT"),
    ("setp", "ISETP.GE.AND"), ("cvt.u64.u32", "MOV"), ("mov", "MOV"), ("bra", "BRA"), ("ret", "EXIT")]
SPECIAL = re.compile(r"%(tid|ctaid|ntid|nctaid)\.")


class Inst:
    def __init__(self, pc, text, numbers):
        text = text.strip().rstrip(";")
        text = re.sub(r"^@%p\d+\s+", "", text)
        name, _, rest = text.partition(" ") if " " in text else text.partition("\t")
        rest = rest.strip()
        self.ptx = name
        self.pc = pc
        self.opcode = next(s for p, s in OPCODES if name.startswith(p))
        if name == "mov.u32" and SPECIAL.search(rest):
            self.opcode = "S2R"
        self.target = rest if name.startswith("bra") else None
        # Predicates are no registers in a trace: the tracer lists only R registers.
        regs = [(m.start(), m.group()) for m in re.finditer(r"%(?:rd|r|f)\d+", rest)]
        numbered = [numbers.setdefault(r, len(numbers)) for _, r in regs]
        store = name.startswith("st.")
        first_is_destination = bool(regs) and regs[0][0] == 0 and not store
        dst, src = (numbered[:1], numbered[1:]) if first_is_destination else ([], numbered)
        self.memory = name.startswith(("ld.global", "st.", "ld.shared"))
        self.head = "%04x ffffffff %d %s%s %d %s" % (
            pc, len(dst), "".join("R%d " % d for d in dst), self.opcode, len(src), "".join("R%d " % s for s in src))
        if not self.memory:
            self.head += "0\n"


def parse(name):
    body = open(os.path.join(HERE, "ptx", name + ".ptx")).read()
    body = body[body.index("{") + 1:body.rindex("}")]
    instructions, labels, numbers = [], {}, {}
    for line in body.splitlines():
        line = line.strip()
        if line.endswith(":"):
            labels[line[:-1]] = len(instructions)
        elif line and not line.startswith((".", "//")):
            instructions.append(Inst(16 * len(instructions), line, numbers))
    return instructions, labels


def path(name, trips):
    """The instructions a warp executes; `trips` says of each branch, by its order in the text, when it is taken."""
    instructions, labels = parse(name)
    branches = [i for i, x in enumerate(instructions) if x.target]
    seen, at, out = {b: 0 for b in branches}, 0, []
    while at < len(instructions):
        x = instructions[at]
        out.append(x)
        if x.target:
            seen[at] += 1
            if trips[branches.index(at)](seen[at]):
                at = labels[x.target]
                continue
        at += 1
    return out


never, always = (lambda n: False), (lambda n: True)
A, B, C = 0x7f4000000000, 0x7f4010000000, 0x7f4020000000


def stride(base, step):
    return "4 1 0x%x %d\n" % (base, step)


def listed(addresses):
    return "4 0 " + " ".join("0x%x" % a for a in addresses) + "\n"


def vecadd(bx, by, warp):
    i = 4 * (bx * 256 + warp * 32)
    return [stride(A + i, 4), stride(B + i, 4), stride(C + i, 4)]


def fma(bx, by, warp):
    i = 4 * (bx * 256 + warp * 32)
    return [stride(A + i, 4), stride(B + i, 4)]


RANDOM = random.Random(3)


def gather(bx, by, warp):
    i, threads, out = bx * 256 + warp * 32, 512 * 256, []
    for k in range(16):
        out.append(stride(B + 4 * (k * threads + i), 4))
        bits = RANDOM.getrandbits(25 * 32)
        out.append(listed(A + 4 * ((bits >> 25 * lane) & 0x1ffffff) for lane in range(32)))
    out.append(stride(C + 4 * i, 4))
    return out


def sgemm(bx, by, warp):
    n, out = 256, []
    ty, lanes = (2 * warp, 2 * warp + 1), range(16)
    at = lambda f: listed(f(y, x) for y in ty for x in lanes)
    reads = []
    for k in range(16):
        reads.append(at(lambda y, x: 64 * y + 4 * k))
        reads.append(at(lambda y, x: 1024 + 64 * k + 4 * x))
    for tile in range(0, n, 16):
        out.append(at(lambda y, x: A + 4 * ((by * 16 + y) * n + tile + x)))
        out.append(at(lambda y, x: 64 * y + 4 * x))
        out.append(at(lambda y, x: B + 4 * ((tile + y) * n + bx * 16 + x)))
        out.append(at(lambda y, x: 1024 + 64 * y + 4 * x))
        out += reads
    out.append(at(lambda y, x: C + 4 * ((by * 16 + y) * n + bx * 16 + x)))
    return out


# The instructions of a warp with two gathers: an eighth of the 184. The store and most of the prologue fall out.
def two_gathers(steps):
    body = next(i for i, x in enumerate(steps) if x.opcode.startswith("LDG")) - 3
    return steps[2:6] + steps[body:body + 16] + steps[body + 32:body + 33] + steps[body + 34:body + 35] + steps[-1:]


def one_gather(steps):
    few = two_gathers(steps)
    return few[2:12] + few[20:21] + few[-1:]


def single_gather(bx, by, warp):
    return gather(bx, by, warp)[:2]


def few_gathers(bx, by, warp):
    return gather(bx, by, warp)[:4]


# grid, block, shared bytes, registers as ptxas allots them, when each branch is taken, addresses, instructions
KERNELS = {
    "vecadd": ((4096, 1), (256, 1), 0, 12, [never], vecadd, 622592),
    "sgemm": ((16, 16), (16, 16), 2048, 45, [never, lambda n: n < 16], sgemm, 2138112),
    "fma": ((640, 1), (256, 1), 0, 10, [never, lambda n: n == 47, always], fma, 3010560),
    "gather": ((512, 1), (256, 1), 0, 30, [never, never, lambda n: n == 4, always, always, never], gather, 753664),
    # One block of vecadd: what a run costs before and after the simulation.
    "empty": ((1, 1), (256, 1), 0, 12, [never], vecadd, 152),
}
SHORT = {
    "vecadd": ((1280, 1), (256, 1), 0, 12, [never], vecadd, 194560),
    "sgemm": ((16, 16), (16, 16), 2048, 45, [never, lambda n: n < 3], sgemm, None),
    "fma": ((640, 1), (256, 1), 0, 10, [never, lambda n: n == 14, always], fma, None),
    "gather": ((80, 1), (256, 1), 0, 30, KERNELS["gather"][4], few_gathers, 80 * 8 * 23),
    "empty": KERNELS["empty"],
}
MEDIUM = {**SHORT, "gather": ((512, 1), (256, 1), 0, 30, KERNELS["gather"][4], few_gathers, 512 * 8 * 23)}
TINY = {
    "vecadd": ((640, 1), (256, 1), 0, 12, [never], vecadd, 97280),
    "sgemm": SHORT["sgemm"],
    "fma": ((640, 1), (256, 1), 0, 10, [never, lambda n: n == 10, always], fma, None),
    "gather": ((512, 1), (256, 1), 0, 30, KERNELS["gather"][4], single_gather, 512 * 8 * 12),
    "gather16": SHORT["gather"],
    "empty": KERNELS["empty"],
}


def write(folder, name, kernels):
    grid, block, shared, registers, trips, addresses, expected = kernels[name]
    steps = path({"empty": "vecadd", "gather16": "gather"}.get(name, name), trips)
    if addresses is few_gathers:
        steps = two_gathers(steps)
    if addresses is single_gather:
        steps = one_gather(steps)
    # Pieces of text between addresses, since those are all that differs between warps.
    pieces, text = [], []
    for x in steps:
        text.append(x.head)
        if x.memory:
            pieces.append("".join(text))
            text = []
    pieces.append("".join(text))
    count = grid[0] * grid[1] * 8 * len(steps)
    assert expected in (None, count), (name, count, expected)
    print("%s: %d blocks, %d instructions a warp, %d warp instructions" % (name, grid[0] * grid[1], len(steps), count))
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, name, "kernelslist.g"), "w") as f:
        f.write("kernel-1.traceg\n")
    with open(os.path.join(folder, name, "kernel-1.traceg"), "w") as f:
        f.write("-kernel name = %s\n-kernel id = 1\n-grid dim = (%d,%d,1)\n-block dim = (%d,%d,1)\n-shmem = %d\n"
                "-nregs = %d\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f3000000000\n"
                "-local mem base_addr = 0x00007f3200000000\n-nvbit version = 1.5.5\n-accelsim tracer version = 4\n\n"
                "#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]\n\n"
                % (name, *grid, *block, shared, registers))
        for by in range(grid[1]):
            for bx in range(grid[0]):
                f.write("#BEGIN_TB\n\nthread block = %d,%d,0\n\n" % (bx, by))
                for warp in range(8):
                    a = addresses(bx, by, warp)
                    if name == "sgemm":  # The store is last, whatever the number of tiles.
                        a = a[:len(pieces) - 2] + a[-1:]
                    assert len(a) == len(pieces) - 1, (name, len(a), len(pieces))
                    body = [pieces[0]]
                    for where, piece in zip(a, pieces[1:]):
                        body += (where, piece)
                    f.write("warp = %d\ninsts = %d\n%s\n" % (warp, len(steps), "".join(body)))
                f.write("#END_TB\n\n")


if __name__ == "__main__":
    kernels = {"full": KERNELS, "short": SHORT, "medium": MEDIUM, "tiny": TINY}[sys.argv[2]]
    for kernel in sys.argv[3:] or list(kernels):
        write(sys.argv[1], kernel, kernels)
