"""Tuples of arrays by reference: kernels hand on one address where numba would hand on every number of every array.

numba passes a named tuple by value.  A tuple of thirty arrays is two hundred numbers and thirty counted references, at
every call and for every field that is read, and compiling them takes longer than compiling what is done with the
arrays.  ``refer`` puts the tuple on the stack of the caller and gives its address; fields are read as before.

A reference owns nothing: whoever calls ``refer`` keeps the tuple alive as long as it is used, with ``hold`` if the
arrays were made in the same kernel, and never returns it.  Take fields into names before a loop over rows: the compiler
cannot know that the loop does not overwrite the tuple.
"""

from __future__ import annotations

import hashlib
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, models, register_model

_ADDRESS = ir.IntType(8).as_pointer()
_KEPT = ("nitems", "data", "shape", "strides")  # of an array; its owner is not


class Ref(types.Type):  # type: ignore[misc]
    """Where a named tuple of type ``target`` lies."""

    def __init__(self, target: types.BaseNamedTuple) -> None:
        self.target = target
        super().__init__(name=f"Ref({target.name})")

    @property
    def key(self) -> Any:
        return self.target

    @property
    def mangling_args(self) -> tuple[str, tuple[Any, ...]]:
        """A short name: the long one would be written at every call."""
        return f"Ref{hashlib.sha256(self.name.encode()).hexdigest()[:12]}", ()


@register_model(Ref)
class _RefModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Ref) -> None:
        super().__init__(manager, kind, _ADDRESS)


@infer_getattr
class _Fields(AttributeTemplate):  # type: ignore[misc]
    key = Ref

    def generic_resolve(self, ref: Ref, name: str) -> Any:
        if name not in ref.target.fields:
            return None
        kind = ref.target[ref.target.fields.index(name)]
        return Ref(kind) if isinstance(kind, types.BaseNamedTuple) else kind


@lower_getattr_generic(Ref)
def _field(context: Any, builder: Any, ref: Ref, address: Any, name: str) -> Any:
    index = ref.target.fields.index(name)
    kind = ref.target[index]
    whole = builder.bitcast(address, context.get_value_type(ref.target).as_pointer())
    place = _part(builder, whole, index)
    if isinstance(kind, types.BaseNamedTuple):
        return builder.bitcast(place, _ADDRESS)
    if not isinstance(kind, types.Array):
        return builder.load(place)
    made = context.make_array(kind)(context, builder)
    fields = context.data_model_manager[kind]
    for each in _KEPT:
        setattr(made, each, builder.load(_part(builder, place, fields.get_field_position(each))))
    made.itemsize = context.get_constant(types.intp, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    return made._getvalue()  # without an owner: numba drops the counting of what nobody owns


def _part(builder: Any, place: Any, index: int) -> Any:
    number = ir.IntType(32)
    return builder.gep(place, [number(0), number(index)], inbounds=True)


def _write(context: Any, builder: Any, kind: Any, value: Any, place: Any) -> None:
    """What can be read again by ``_field``."""
    if isinstance(kind, types.BaseNamedTuple):
        for index, each in enumerate(kind):
            _write(context, builder, each, builder.extract_value(value, index), _part(builder, place, index))
    elif isinstance(kind, types.Array):
        fields = context.data_model_manager[kind]
        for name in _KEPT:
            index = fields.get_field_position(name)
            builder.store(builder.extract_value(value, index), _part(builder, place, index))
    else:
        builder.store(value, place)


@intrinsic
def refer(_context, value):  # type: ignore[no-untyped-def]
    """The address of a named tuple that stays alive in this kernel or its caller."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        with builder.goto_entry_block():
            place = builder.alloca(context.get_value_type(value))
        _write(context, builder, value, args[0], place)
        return builder.bitcast(place, _ADDRESS)

    return Ref(value)(value), generate


@intrinsic
def hold(_context, value):  # type: ignore[no-untyped-def]
    """Nothing: what is given stays alive until here."""

    def generate(context: Any, _builder: Any, _signature: Any, _args: Any) -> Any:
        return context.get_dummy_value()

    return types.void(value), generate


def through(signature: Any) -> Any:
    """What an intrinsic returns that calls the C function of this signature at an address, its first argument."""

    def generate(context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        kinds = [context.get_value_type(kind) for kind in signature.args]
        function = ir.FunctionType(context.get_value_type(signature.return_type), kinds)
        return builder.call(builder.inttoptr(args[0], function.as_pointer()), args[1:])

    return signature.return_type(types.int64, *signature.args), generate
