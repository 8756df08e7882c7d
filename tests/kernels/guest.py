"""One guest: its initramfs, its disks, its boot."""

import ctypes
import dataclasses
import lzma
import os
import shutil
import signal
import subprocess
import tarfile
import time

from debian_kernel import modules_folder, with_sbin

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS_BYTES = 64 << 20
MODULES = ["virtio_pci", "virtio_blk", "xfs"]

# Under TCG, all jobs take about half of this where nobody else wants the processor. Each job ends before
# SILENT_SECONDS.
BOOT_SECONDS = 2400
SILENT_SECONDS = 150


@dataclasses.dataclass
class Size:
    cpus: int = 2
    memory: str = "2G"
    disk_bytes: int = 2 << 30  # of each file system; sparse
    seconds: int = BOOT_SECONDS


def module_order(modules):
    """Paths of MODULES and of what they need, each after what it needs itself."""
    needs = {}
    with open(os.path.join(modules, "modules.dep")) as lines:
        for line in lines:
            path, _, needed = line.partition(":")
            needs[path] = needed.split()
    by_name = {os.path.basename(path).split(".")[0]: path for path in needs}
    order = []

    def add(path):
        for needed in reversed(needs[path]):
            add(needed)
        if path not in order:
            order.append(path)

    for name in MODULES:
        if name in by_name:  # else it is built in
            add(by_name[name])
    return order


def make_initramfs(kernel, release, programs, jobs, root):
    """Fills the folder `root` and packs it.

    programs  paths of static programs that land in /bin
    jobs      {file name: text} below /jobs
    """
    for folder in ("bin", "modules", "jobs", "etc"):
        os.makedirs(os.path.join(root, folder))
    shutil.copy(os.path.join(HERE, "init"), root)
    shutil.copy("/bin/busybox", os.path.join(root, "bin"))
    for program in programs:
        output = os.path.join(root, "bin", os.path.basename(program))
        subprocess.run(["strip", "--strip-debug", "-o", output, program], check=True)  # debug types are most of its size
    with open(os.path.join(root, "etc/passwd"), "w") as users:
        users.write("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n")
    for name, text in jobs.items():
        with open(os.path.join(root, "jobs", name), "w") as file:
            file.write(text)
    modules = os.path.join(modules_folder(kernel), release)
    names = []
    for path in module_order(modules):
        names.append(os.path.basename(path).removesuffix(".xz"))
        with open(os.path.join(modules, path), "rb") as file:
            data = file.read()
        with open(os.path.join(root, "modules", names[-1]), "wb") as file:
            file.write(lzma.decompress(data) if path.endswith(".xz") else data)
    with open(os.path.join(root, "modules/order"), "w") as file:
        file.write("\n".join(names) + "\n")
    packed = root + ".cpio"
    subprocess.run(f"find . | cpio --quiet -o -H newc -R 0:0 >{packed}", shell=True, check=True, cwd=root)
    return packed


def make_disks(folder, wanted):
    paths = {}
    for name, size in {"ext4": wanted.disk_bytes, "xfs": wanted.disk_bytes, "results": RESULTS_BYTES}.items():
        paths[name] = os.path.join(folder, name + ".img")
        with open(paths[name], "wb") as file:
            file.truncate(size)
    for name in ("ext4", "xfs"):
        subprocess.run([f"mkfs.{name}", "-q", paths[name]], check=True, env=with_sbin())
    return paths


def kvm_works():
    """Whether a guest starts on it: a /dev/kvm that opens is not enough inside a virtual machine."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    trial = subprocess.Popen(["qemu-system-x86_64", "-accel", "kvm", "-cpu", "host", "-nodefaults", "-display", "none",
                              "-m", "64"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        trial.wait(timeout=2)
        return False
    except subprocess.TimeoutExpired:
        return True
    finally:
        trial.kill()
        trial.wait()


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Guest:
    """A running machine; gone with the object's stop(), or with this process."""

    def __init__(self, kernel, release, initramfs, disks, console, kvm, size):
        # Under TCG with a host thread per CPU, 6.1 hung in 3 of 7 boots while it patched its own code.
        machine = ["-accel", "kvm", "-cpu", "host"] if kvm else ["-accel", "tcg,thread=single", "-cpu", "max"]
        command = ["qemu-system-x86_64", *machine, "-smp", str(size.cpus), "-m", size.memory, "-nodefaults", "-display", "none",
                   "-no-reboot", "-serial", "file:" + console,
                   "-kernel", os.path.join(kernel, "boot/vmlinuz-" + release), "-initrd", initramfs, "-append", "console=ttyS0 quiet panic=-1 rdinit=/init"]
        for path in disks.values():
            command += ["-drive", f"file={path},if=virtio,format=raw,cache=unsafe"]
        self.console, self.seconds = console, size.seconds
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True,
                                        preexec_fn=end_with_parent)

    def ended(self):
        return self.process.poll() is not None

    def stalled(self):
        """Why it seems to hang, or None."""
        alive = time.monotonic() - self.started
        silent = min(alive, time.time() - os.path.getmtime(self.console)) if os.path.exists(self.console) else alive
        return f"nothing on its console for {SILENT_SECONDS} s" if silent > SILENT_SECONDS else None

    def late(self):
        """Why it gets no more time, or None: another boot would take as long."""
        return f"not done after {self.seconds} s" if time.monotonic() - self.started > self.seconds else None

    def stop(self):
        self.process.kill()
        self.process.wait()


def results(disks):
    """{file name: text} that the guest handed back; empty if it never came to that."""
    with open(disks["results"], "rb") as disk:
        if disk.read(1) == b"\0":
            return {}
    with tarfile.open(disks["results"], "r:") as archive:
        files = [member for member in archive.getmembers() if member.isfile()]
        texts = [archive.extractfile(file).read().decode(errors="replace") for file in files]
    return {os.path.basename(file.name): text for file, text in zip(files, texts)}
