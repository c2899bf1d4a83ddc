"""What arrays hold, by name: those of the host with their types, those of a device with their shapes.

Arrays of a device belong to numpy or to torch, and code for them is written against the array API, which has no types
yet: to a type checker they are anything. Their names say what a reader needs. Letters in shapes: b pairs of a batch,
n source subwords, m target subwords, d width of a hidden state.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

# On the host.
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

# On any device.
States: TypeAlias = Any
"""Hidden states, floats of shape (b, n, d) for the source and (b, m, d) for the target."""
Cells: TypeAlias = Any
"""A number for each source and target subword, floats of shape (b, n, m): similarities, shares, plans, scores."""
Marks: TypeAlias = Any
"""Yes or no for each source and target subword, booleans of shape (b, n, m): links, or which cells are real."""
WordNumbers: TypeAlias = Any
"""The word of each subword, whole numbers of shape (b, n) or (b, m)."""
LinkColumn: TypeAlias = Any
"""One value for each link, of shape (links,)."""
ChunkIds: TypeAlias = Any
"""The ids of a chunk's subwords, whole numbers of shape (subwords,)."""
ChunkStates: TypeAlias = Any
"""The hidden states of a chunk's subwords, floats of shape (subwords, d)."""
RowNumbers: TypeAlias = Any
"""A whole number for each cell of an encoder's padded batch, of shape (rows, length): ids, masks, positions, places."""
RowStates: TypeAlias = Any
"""Hidden states of an encoder's padded batch, floats of shape (rows, length, d)."""
DeviceArray: TypeAlias = Any
"""An array of any shape, of numpy or torch, wherever it lies."""


def array_namespace(array: DeviceArray) -> Any:
    """The functions of an array's library, by the names that the array API gives them.

    numpy has these names itself; for torch they come from `array_api_compat`, which only the torch half needs.
    """
    if isinstance(array, np.ndarray):
        return np
    from array_api_compat import array_namespace as namespace_of

    return namespace_of(array)


def to_device(array: DeviceArray, device: Any) -> DeviceArray:
    """The array on a device; itself if it is there already. "cpu" is the host."""
    if isinstance(array, np.ndarray):
        return array.to_device(device)
    from array_api_compat import to_device as moved

    return moved(array, device)
