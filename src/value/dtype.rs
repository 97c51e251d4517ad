use std::fmt;

/// An element type of PyTorch; NumPy's types have the same names here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dtype {
    Bool,
    Uint8,
    Int8,
    Int16,
    Int32,
    Int64,
    Uint16,
    Uint32,
    Uint64,
    Float16,
    Bfloat16,
    Float32,
    Float64,
    Complex32,
    Complex64,
    Complex128,
    /// A float8, float4 or quantised type, of which only the name is known.
    Other(super::Sym),
}

/// The category of a dtype, in the order of type promotion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Bool,
    Integral,
    Floating,
    Complex,
}

impl Dtype {
    /// Parses `float32`, `float`, `long` and other names under `torch.` and `numpy.`.
    pub(crate) fn parse(name: &str) -> Option<Dtype> {
        Some(match name {
            "bool" | "bool_" => Dtype::Bool,
            "uint8" => Dtype::Uint8,
            "int8" => Dtype::Int8,
            "int16" | "short" => Dtype::Int16,
            "int32" | "int" => Dtype::Int32,
            "int64" | "long" => Dtype::Int64,
            "uint16" => Dtype::Uint16,
            "uint32" => Dtype::Uint32,
            "uint64" => Dtype::Uint64,
            "float16" | "half" => Dtype::Float16,
            "bfloat16" => Dtype::Bfloat16,
            "float32" | "float" => Dtype::Float32,
            "float64" | "double" => Dtype::Float64,
            "complex32" | "chalf" => Dtype::Complex32,
            "complex64" | "cfloat" => Dtype::Complex64,
            "complex128" | "cdouble" => Dtype::Complex128,
            "float8_e4m3fn" | "float8_e5m2" | "float8_e4m3fnuz" | "float8_e5m2fnuz" | "float8_e8m0fnu"
            | "float4_e2m1fn_x2" | "qint8" | "quint8" | "qint32" | "quint4x2" | "quint2x4" => {
                Dtype::Other(super::sym(name))
            }
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Dtype::Bool => "bool",
            Dtype::Uint8 => "uint8",
            Dtype::Int8 => "int8",
            Dtype::Int16 => "int16",
            Dtype::Int32 => "int32",
            Dtype::Int64 => "int64",
            Dtype::Uint16 => "uint16",
            Dtype::Uint32 => "uint32",
            Dtype::Uint64 => "uint64",
            Dtype::Float16 => "float16",
            Dtype::Bfloat16 => "bfloat16",
            Dtype::Float32 => "float32",
            Dtype::Float64 => "float64",
            Dtype::Complex32 => "complex32",
            Dtype::Complex64 => "complex64",
            Dtype::Complex128 => "complex128",
            Dtype::Other(name) => name.as_str(),
        }
    }

    /// The name in PyTorch's messages: `Long`, `Float` and so on.
    pub(crate) fn scalar_name(self) -> &'static str {
        match self {
            Dtype::Bool => "Bool",
            Dtype::Uint8 => "Byte",
            Dtype::Int8 => "Char",
            Dtype::Int16 => "Short",
            Dtype::Int32 => "Int",
            Dtype::Int64 => "Long",
            Dtype::Uint16 => "UInt16",
            Dtype::Uint32 => "UInt32",
            Dtype::Uint64 => "UInt64",
            Dtype::Float16 => "Half",
            Dtype::Bfloat16 => "BFloat16",
            Dtype::Float32 => "Float",
            Dtype::Float64 => "Double",
            Dtype::Complex32 => "ComplexHalf",
            Dtype::Complex64 => "ComplexFloat",
            Dtype::Complex128 => "ComplexDouble",
            Dtype::Other(name) => name.as_str(),
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Dtype::Bool => Kind::Bool,
            Dtype::Float16 | Dtype::Bfloat16 | Dtype::Float32 | Dtype::Float64 | Dtype::Other(_) => Kind::Floating,
            Dtype::Complex32 | Dtype::Complex64 | Dtype::Complex128 => Kind::Complex,
            _ => Kind::Integral,
        }
    }

    pub(crate) fn is_floating(self) -> bool {
        self.kind() == Kind::Floating
    }

    pub(crate) fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// Whether this is an integer type or bool.
    pub(crate) fn is_integral(self) -> bool {
        self.kind() <= Kind::Integral
    }

    /// The real dtype of the parts of a complex dtype; other dtypes unchanged.
    pub(crate) fn to_real(self) -> Dtype {
        match self {
            Dtype::Complex32 => Dtype::Float16,
            Dtype::Complex64 => Dtype::Float32,
            Dtype::Complex128 => Dtype::Float64,
            other => other,
        }
    }

    /// The complex dtype with parts of this real dtype; `complex64` if there is none. A complex
    /// dtype stays unchanged.
    pub(crate) fn to_complex(self) -> Dtype {
        match self {
            Dtype::Float16 => Dtype::Complex32,
            Dtype::Float64 => Dtype::Complex128,
            Dtype::Complex32 | Dtype::Complex64 | Dtype::Complex128 => self,
            _ => Dtype::Complex64,
        }
    }

    /// The largest finite value of a floating type.
    pub(crate) fn largest(self) -> Option<f64> {
        Some(match self {
            Dtype::Float16 => 65504.0,
            Dtype::Bfloat16 => 3.389_531_389_251_535_5e38,
            Dtype::Float32 => f64::from(f32::MAX),
            Dtype::Float64 => f64::MAX,
            _ => return None,
        })
    }

    /// The smallest and largest value of bool and of the integer types up to 32 bits.
    pub(crate) fn bounds(self) -> Option<(f64, f64)> {
        Some(match self {
            Dtype::Bool => (0.0, 1.0),
            Dtype::Uint8 => (0.0, 255.0),
            Dtype::Int8 => (-128.0, 127.0),
            Dtype::Int16 => (-32768.0, 32767.0),
            Dtype::Uint16 => (0.0, 65535.0),
            Dtype::Int32 => (-2_147_483_648.0, 2_147_483_647.0),
            Dtype::Uint32 => (0.0, 4_294_967_295.0),
            _ => return None,
        })
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `torch.promote_types`; `None` if PyTorch rejects the pair, or if a dtype is not modelled.
pub(crate) fn promote(a: Dtype, b: Dtype) -> Option<Dtype> {
    use Dtype::{
        Bfloat16, Bool, Complex32, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int32, Int64, Other,
        Uint8, Uint16, Uint32, Uint64,
    };
    if a == b {
        return Some(a);
    }
    let (low, high) = if a.kind() <= b.kind() { (a, b) } else { (b, a) };
    Some(match (low, high) {
        (Other(_), _) | (_, Other(_)) => return None,
        (Bool, other) => other,
        (x, y) if x.kind() < Kind::Floating && y.kind() >= Kind::Floating => y,
        // Both dtypes are integral.
        (x, y) if y.kind() == Kind::Integral => match (x, y) {
            (Uint16 | Uint32 | Uint64, _) | (_, Uint16 | Uint32 | Uint64) => return None,
            (Int64, _) | (_, Int64) => Int64,
            (Int32, _) | (_, Int32) => Int32,
            (Int16, _) | (_, Int16) => Int16,
            (Uint8, Int8) | (Int8, Uint8) => Int16,
            _ => return None,
        },
        (x, y) if x.kind() == Kind::Floating && y.kind() == Kind::Floating => match (x, y) {
            (Float64, _) | (_, Float64) => Float64,
            (Float32, _) | (_, Float32) => Float32,
            (Float16, Bfloat16) | (Bfloat16, Float16) => Float32,
            _ => return None,
        },
        // The dtype of the higher kind is complex.
        (x, y) => {
            let real = |d: Dtype| match d {
                Float64 | Complex128 => 3,
                Float32 | Bfloat16 | Complex64 => 2,
                _ => 1,
            };
            match real(x).max(real(y)) {
                3 => Complex128,
                2 => Complex64,
                _ => Complex32,
            }
        }
    })
}
