"""bench/results/NAME.json: every launch of a workload, never only its median."""
import json
import pathlib
import statistics

FOLDER = pathlib.Path(__file__).with_name("results")


def path_of(name: str) -> pathlib.Path:
    return FOLDER / f"{name}.json"


def read(name: str) -> dict:
    file = path_of(name)
    return json.loads(file.read_text()) if file.exists() else {"launches": []}


def write(name: str, content: dict):
    FOLDER.mkdir(exist_ok=True)
    path_of(name).write_text(json.dumps(content, indent=1) + "\n")


def keep(workload, bytes_per_token: int, launches: list[dict]):
    write(workload.name, {"title": workload.title, "kind": workload.kind, "job": vars(workload.job),
                          "bytes_per_token": bytes_per_token, "launches": launches})


QUIET_CPUS = 0.15  # what others may take during a launch that counts


def values(content: dict, arm: str, field: str) -> list[float]:
    """Of the launches that had the machine to themselves; of all when none had."""
    measured = [launch["values"] for launch in content["launches"]
                if launch["arm"] == arm and field in launch.get("values", {})]
    quiet = [v for v in measured if v["others_cpus"] <= QUIET_CPUS]
    return [v[field] for v in quiet or measured]


def median(content: dict, arm: str, field: str) -> float | None:
    all_of_it = values(content, arm, field)
    return statistics.median(all_of_it) if all_of_it else None


def arms(content: dict) -> list[str]:
    return list(dict.fromkeys(launch["arm"] for launch in content["launches"]))


def refusal(content: dict, arm: str) -> str | None:
    """Why an arm has no values at all."""
    reasons = [launch["unable"] for launch in content["launches"] if launch["arm"] == arm and "unable" in launch]
    return reasons[-1] if reasons else None
