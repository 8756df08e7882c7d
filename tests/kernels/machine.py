"""A kernel with what it is to do, booted until that is done."""

import os
import time

import debian_kernel
import guest

ATTEMPTS = 2


class Machine:
    """A kernel with its jobs, and up to ATTEMPTS boots of it."""

    def __init__(self, series, programs, script, folder, kvm, size=guest.Size()):
        self.series, self.folder, self.kvm, self.size = series, folder, kvm, size
        os.makedirs(folder)
        self.kernel, self.release = debian_kernel.unpacked_kernel(series)
        self.initramfs = guest.make_initramfs(self.kernel, self.release, programs, {"script": script},
                                              os.path.join(folder, "root"))
        self.attempt, self.files, self.guest, self.given_up, self.done = 0, {}, None, None, False

    def boot(self):
        self.attempt += 1
        self.disks = guest.make_disks(self.folder, self.size)
        console = os.path.join(self.folder, f"console{self.attempt}")
        # A second try goes without KVM: a nested one may start and then not work.
        self.guest = guest.Guest(self.kernel, self.release, self.initramfs, self.disks, console,
                                 self.kvm and self.attempt == 1, self.size)

    def poll(self):
        if not self.guest.ended():
            self.given_up = self.guest.stalled() or self.guest.late()
            if not self.given_up:
                return
        self.guest.stop()
        self.seconds = time.monotonic() - self.guest.started
        self.files = guest.results(self.disks)
        if "complete" in self.files:
            self.given_up = None
        elif self.attempt < ATTEMPTS and not self.guest.late():
            print(f"{self.release}: {self.given_up or 'ended early'}; booting once more", flush=True)
            self.boot()
            return
        else:
            self.given_up = self.given_up or "ended early"
        self.done = True

    def last_words(self):
        with open(self.guest.console, errors="replace") as console:
            return "".join(console.readlines()[-15:])


def run_all(machines, at_once):
    """Until each is done; none of them outlives this."""
    waiting, running = list(machines), []
    try:
        while waiting or running:
            while waiting and len(running) < at_once:
                running.append(waiting.pop(0))
                running[-1].boot()
            time.sleep(0.2)
            for machine in running:
                machine.poll()
            running = [machine for machine in running if not machine.done]
    finally:
        for machine in running:
            if machine.guest:
                machine.guest.stop()
