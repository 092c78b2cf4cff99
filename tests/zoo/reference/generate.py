"""Writes PyTorch's numbers for the models of the zoo to tests/zoo/data.

    python tests/zoo/reference/generate.py [name ...]

Each model is made with a fixed seed, its weights and inputs are rounded to bfloat16 (so that half of each number is
zeros and compresses), and it is run in float64 and in float32. A file (safetensors, gzip) holds

    state.<key>, batch.<i>   what the run starts from
    logits                   the forward pass in evaluation mode
    loss, grad.<parameter>   the loss in training mode and its gradients
    losses                   of ten whole steps of the model's recipe
    final.<key>              parameters and buffers after them
    decoded                  tokens, of models that generate

as float64 computed them, stored as float32 (the losses as float64), and under error.<name> the root mean square
distance of PyTorch's float32 run from those: the measure by which other float32 runs are judged.
"""

import gzip
import importlib
import json
import pathlib
import struct
import sys

import torch

from zoo import SPECIMENS

HERE = pathlib.Path(__file__).parent
STEPS = 10
TYPES = {torch.float32: "F32", torch.float64: "F64", torch.int64: "I64", torch.bool: "BOOL"}


def rounded(tensor):
    return tensor.to(torch.bfloat16).to(torch.float32) if tensor.is_floating_point() else tensor


def converted(tensor, dtype):
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def run(make, state, batch, dtype):
    """The numbers of one run, by name."""
    found = {}
    subject = make()
    model = subject.model.to(dtype)
    batch = [converted(each, dtype) for each in batch]
    restored = {key: converted(value, dtype) for key, value in state.items()}
    model.load_state_dict(restored)
    model.eval()
    with torch.no_grad():
        found["logits"] = subject.forward(*batch)
        if subject.decode:
            found["decoded"] = torch.tensor(subject.decode(*batch))
    model.train()
    loss = subject.loss(*batch)
    loss.backward()
    found["loss"] = loss.detach().reshape(1)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            found[f"grad.{name}"] = parameter.grad.clone()
    model.load_state_dict(restored)
    model.zero_grad()
    step = subject.train()
    found["losses"] = torch.stack([step(*batch).reshape(-1) for _ in range(STEPS)])
    for key, value in model.state_dict().items():
        found[f"final.{key}"] = value.clone()
    return found


def serialized(tensors):
    """The safetensors format."""
    header, parts, offset = {}, [], 0
    for name, tensor in sorted(tensors.items(), key=lambda item: -item[1].element_size()):
        data = tensor.detach().contiguous().numpy().tobytes()
        header[name] = {
            "dtype": TYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + len(data)],
        }
        parts.append(data)
        offset += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(parts)


def generate(name):
    make, make_batch = SPECIMENS[name]
    torch.manual_seed(20)
    state = {key: rounded(value).clone() for key, value in make().model.state_dict().items()}
    batch = [rounded(each) for each in make_batch()]
    exact = run(make, state, batch, torch.float64)
    single = run(make, state, batch, torch.float32)
    stored = {f"state.{key}": value for key, value in state.items()}
    stored |= {f"batch.{i}": value for i, value in enumerate(batch)}
    for key, value in exact.items():
        if value.is_floating_point():
            stored[f"error.{key}"] = (single[key].double() - value).square().mean().sqrt()
        stored[key] = value if key == "losses" else converted(value, torch.float32)
    packed = gzip.compress(serialized(stored), 9, mtime=0)
    (HERE / "../data" / f"{name}.safetensors.gz").resolve().write_bytes(packed)
    losses = exact["losses"]
    parameters = sum(p.numel() for p in make().model.parameters())
    print(f"{name}: {parameters} parameters, {len(packed)} bytes, loss {losses[0].tolist()} to {losses[-1].tolist()}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for file in sorted((HERE / "models").glob("*.py")):
        importlib.import_module(f"models.{file.stem}")
    for name in sys.argv[1:] or SPECIMENS:
        generate(name)
