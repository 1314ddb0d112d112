"""No program but the limit of decoding one stream: what the memory gives, measured in the same rounds, as it varies."""
import json

from launch import launch


class MemoryRead:
    name = "memory read"

    def __init__(self, tool):
        self.tool = tool  # bench/machine_limits.cc

    def run(self, job):
        text, measured = launch([self.tool, "--read-only", job.threads])
        return measured | {"read": json.loads(text)["limits"][0]["read_bytes_per_second"]}
