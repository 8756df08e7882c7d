"""Debian's newest cloud kernel of a series, downloaded and unpacked in a cache, never installed."""

import os
import re
import subprocess

# Where this host's own sources lack a series, these suites of the same mirror have it.
SUITES = {"6.1": ["bookworm", "bookworm-security"], "6.12": ["trixie", "trixie-security"]}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def cache_folder():
    named = os.environ.get("IOTRACE_KERNELS")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return named or os.path.join(home, "iotrace", "kernels")


def output(command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def newest(series, names):
    """The signed cloud kernel of the series with the highest version among these package names; None: none."""
    pattern = "linux-image-" + re.escape(series) + r"\.[0-9]+(-[0-9]+|\+deb[0-9]+(\+[0-9]+)?)-cloud-amd64"
    numbers = lambda name: [int(part) for part in re.findall(r"\d+", name.removesuffix("-cloud-amd64"))]
    return max((name for name in names if re.fullmatch(pattern, name)), key=numbers, default=None)


def offered(series, apt):
    """Name of the newest package of the series that these sources offer; None: none."""
    found = output(["apt-cache", *apt, "search", "--names-only", "^linux-image-" + re.escape(series)])
    return newest(series, [line.split()[0] for line in found.splitlines()])


def mirrors():
    """Addresses of the Debian archive ("") and its security archive ("-security") that this host uses."""
    listed = output(["apt-get", "indextargets", "--format", "$(REPO_URI)|$(RELEASE)", "Created-By: Packages"])
    found = {}
    for line in listed.splitlines():
        address, release = line.split("|")
        if re.match(r"^[a-z]+(-security)?$", release):
            found.setdefault("-security" if release.endswith("-security") else "", address)
    return found


def private_sources(series, folder):
    """apt options for sources of our own: lists and caches lie in our folder, the host's stay as they are."""
    for part in ("lists/partial", "archives/partial"):
        os.makedirs(os.path.join(folder, part), exist_ok=True)
    addresses = mirrors()
    with open(os.path.join(folder, "sources.list"), "w") as sources:
        for suite in SUITES[series]:
            address = addresses.get("-security" if suite.endswith("-security") else "")
            if address:
                sources.write(f"deb [signed-by={KEYRING}] {address} {suite} main\n")
    settings = {"Dir::Etc::sourcelist": "sources.list", "Dir::Etc::sourceparts": "none", "Dir::State::lists": "lists",
                "Dir::Cache": ".", "Dir::Cache::archives": "archives"}
    options = []
    for name, value in settings.items():
        options += ["-o", f"{name}={os.path.join(folder, value)}"]
    options += ["-o", "APT::Sandbox::User=" + ("root" if os.geteuid() == 0 else "")]
    subprocess.run(["apt-get", *options, "update", "-qq"], check=True, capture_output=True)
    return options


def unpacked_kernel(series):
    """Folder with boot/ and lib/modules/ of the newest kernel of the series, and its release."""
    cache = cache_folder()
    os.makedirs(cache, exist_ok=True)
    kept = newest(series, [name for name in os.listdir(cache) if os.path.exists(os.path.join(cache, name, "complete"))])
    try:
        package = downloaded(series, cache)
    except (subprocess.CalledProcessError, LookupError) as error:
        if not kept:
            raise
        print(f"keeping to {kept}, nothing newer can be had: {error}", flush=True)
        package = kept
    folder = os.path.join(cache, package)
    return folder, os.listdir(modules_folder(folder))[0]


def downloaded(series, cache):
    """Name of the newest package, which then lies unpacked in the cache."""
    apt = []
    package = offered(series, apt)
    if not package:
        apt = private_sources(series, os.path.join(cache, f"apt-{series}"))
        package = offered(series, apt)
    if not package:
        raise LookupError(f"no source of apt offers a linux-image-{series}…-cloud-amd64; try apt-get update")
    folder = os.path.join(cache, package)
    if not os.path.exists(os.path.join(folder, "complete")):
        unpack(package, folder, apt)
    return package


def unpack(package, folder, apt):
    print(f"downloading {package}", flush=True)
    os.makedirs(folder, exist_ok=True)
    subprocess.run(["apt-get", *apt, "download", "-qq", package], check=True, cwd=folder, stderr=subprocess.DEVNULL)
    archive = next(name for name in os.listdir(folder) if name.endswith(".deb"))
    output(["dpkg-deb", "-x", archive, "."], cwd=folder)
    os.unlink(os.path.join(folder, archive))
    release = os.listdir(modules_folder(folder))[0]
    usr_merged = os.path.join(folder, "usr") if os.path.isdir(os.path.join(folder, "usr/lib/modules")) else folder
    output(["depmod", "-b", usr_merged, release], env=with_sbin())
    open(os.path.join(folder, "complete"), "w").close()


def modules_folder(folder):
    """A merged-/usr package of a later Debian keeps them below usr/."""
    merged = os.path.join(folder, "usr/lib/modules")
    return merged if os.path.isdir(merged) else os.path.join(folder, "lib/modules")


def with_sbin():
    """depmod and mkfs are not on a user's path."""
    return {**os.environ, "PATH": os.environ.get("PATH", "") + ":/usr/sbin:/sbin"}
