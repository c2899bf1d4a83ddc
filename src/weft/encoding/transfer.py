"""Arrays on their way between the host and the device where an encoder's states lie, without waiting for each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from weft.arrays import DeviceArray, array_namespace, to_device
from weft.encoding.pending import Pending

Array = npt.NDArray[Any]

# So many bytes travel to a GPU with the order to copy them.
_COPIED_AT_ONCE = 1 << 16


def is_on_host(array: DeviceArray) -> bool:
    """Whether an array of any library lies where numpy's lie."""
    return str(array.device) == "cpu"


def on_device_of(states: DeviceArray, array: Array) -> DeviceArray:
    """An array of the host as one of the same library, and on the same device, as `states`."""
    xp = array_namespace(states)
    if isinstance(states, np.ndarray) or not states.is_cuda:
        return to_device(xp.asarray(array), states.device)
    tensor = xp.from_numpy(array)
    if array.nbytes > _COPIED_AT_ONCE:
        # From memory that may be swapped out a copy begins when the GPU has done everything before it.
        tensor = tensor.pin_memory()
    return tensor.to(states.device, non_blocking=True)


def to_host(array: DeviceArray) -> Pending[Array]:
    """Begin to copy an array to the host; what is returned waits for it and gives it."""
    if isinstance(array, np.ndarray) or not array.is_cuda:
        there = np.asarray(to_device(array, "cpu"))
        return lambda: there
    import torch

    copy = array.to("cpu", non_blocking=True)
    done: Any = torch.cuda.Event()
    done.record(torch.cuda.current_stream(array.device))

    def arrived() -> Array:
        done.synchronize()
        return np.asarray(copy)

    return arrived
