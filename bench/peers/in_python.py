"""Peers with a Python interface: each has a script under peers/children/ that does one job and prints JSON."""
import importlib.util
import json
import pathlib
import sys

from job import Unable
from launch import launch

CHILDREN = pathlib.Path(__file__).with_name("children")


class InPython:
    def __init__(self, name, package, source, most_streams=64, env=None):
        """`source` says which file of a model it reads: models.Models' method, given the model's name."""
        self.name, self.package, self.source, self.most_streams, self.env = name, package, source, most_streams, env
        self.child = CHILDREN / (package.replace("-", "_") + "_child.py")
        if importlib.util.find_spec(package.replace("-", "_")) is None:
            raise Unable(f"{package} is not installed")

    def files(self, job):
        source = self.source(job.model)
        return list(source.iterdir()) if source.is_dir() else [source]

    def run(self, job):
        if job.streams > self.most_streams:
            raise Unable("runs one request at a time")
        return self.measure(job, "run")

    def start(self, job):
        return self.measure(job, "start")

    def measure(self, job, what):
        arguments = {"what": what, "model": str(self.source(job.model)), "threads": job.threads, "prompt": job.prompt,
                     "decode": job.decode, "streams": job.streams}
        env = {"PYTHONPATH": str(CHILDREN), **(self.env(job) if self.env else {})}
        text, measured = launch([sys.executable, self.child, json.dumps(arguments)], env=env)
        return measured | json.loads(text.splitlines()[-1])
