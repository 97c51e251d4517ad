//! Patterns for the remaining cases of a `match` on two values or two objects. They name every
//! kind, so that a new kind is a compile error wherever it must be handled.

/// Two values of different kinds, at the end of a `match` on a pair of them.
macro_rules! different_kinds {
    () => {
        (
            Value::Unknown
                | Value::Open(_)
                | Value::None
                | Value::Ellipsis
                | Value::Bool(_)
                | Value::Int(_)
                | Value::Float(_)
                | Value::Str(_)
                | Value::Size(_)
                | Value::Any(_)
                | Value::Ranged(_)
                | Value::Floats(_)
                | Value::Among(_)
                | Value::Tuple(_)
                | Value::Slice(_)
                | Value::Dtype(_)
                | Value::Device(_)
                | Value::Path(_)
                | Value::Obj(_)
                | Value::Bound(_)
                | Value::Method(_)
                | Value::Super(_)
                | Value::Lazy(_)
                | Value::Partial(_)
                | Value::Fates(_),
            _,
        )
    };
}

/// Two objects of different kinds, at the end of a `match` on a pair of them.
macro_rules! different_objects {
    () => {
        (
            Data::Scope(_)
                | Data::List(_)
                | Data::Set(_)
                | Data::Dict(_)
                | Data::Tensor(_)
                | Data::Instance(_)
                | Data::Function(_)
                | Data::Class(_)
                | Data::Iter(_)
                | Data::Module { .. },
            _,
        )
    };
}
