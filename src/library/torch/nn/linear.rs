//! Linear maps and embeddings.

use super::device;
use super::facts::{
    agreed_device, both_shapes, check_indices, check_rank, dim_read, floating_dtype, product_dtype, result, shape_text,
    with_unknown_operand,
};
use super::layer::dim_of;
use crate::library::torch::views::layout;
use crate::library::{Cx, Table};
use crate::python::{Bound, RejectKind};
use crate::value::{Dim, Dtype, Grad, Role, Size, Tensor, Value, counted};

pub(crate) fn register(t: &mut Table) {
    let f = "torch.nn.functional.";
    t.listed(f, "linear", linear);
    t.listed(f, "bilinear", bilinear);
    t.listed(f, "embedding", embedding);
    t.listed(f, "embedding_bag", embedding_bag);
    t.listed(f, "cosine_similarity", cosine_similarity);
    t.listed(f, "pairwise_distance", pairwise_distance);
    t.def(
        "torch.nn.Embedding.from_pretrained",
        "embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, \
         sparse=False",
        from_pretrained,
    );
    t.def(
        "torch.nn.EmbeddingBag.from_pretrained",
        "embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode='mean', \
         sparse=False, include_last_offset=False, padding_idx=None",
        from_pretrained,
    );
    t.alias("torch.bilinear", "torch.nn.functional.bilinear");
    t.alias("torch.cosine_similarity", "torch.nn.functional.cosine_similarity");
    t.alias("torch.pairwise_distance", "torch.nn.functional.pairwise_distance");
}

fn linear(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, weight) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "weight"));
    let at = cx.at();
    let (Some(input), Some(weight)) = (input.clone(), weight.clone()) else {
        // A known input or weight determines some facts of the result.
        let known = input.or(weight).unwrap_or_default();
        let dtype = product_dtype(cx, &[("input", &known)]).unwrap_or_default();
        let mut out = result(cx, &[&known, &Tensor::default()], None, dtype);
        out.grad = with_unknown_operand(out.grad);
        return cx.out(out.with_role(Some(Role::Logits), at));
    };
    let bias = cx.tensor_arg(b, "bias");
    let mut tensors = vec![("input", &input), ("weight", &weight)];
    tensors.extend(bias.iter().map(|t| ("bias", t)));
    device::check(cx, &tensors);
    let dtype = product_dtype(cx, tensors.get(..2).unwrap_or_default()).unwrap_or_default();
    let all: Vec<&Tensor> = tensors.iter().map(|(_, t)| *t).collect();
    let shape = linear_shape(cx, &input, &weight);
    let out = result(cx, &all, shape, dtype).with_role(Some(Role::Logits), at);
    layout::dense(cx, out)
}

fn linear_shape(cx: &mut Cx<'_, '_>, input: &Tensor, weight: &Tensor) -> Option<Vec<Dim>> {
    if input.shape.is_none() && input.trailing.is_empty() {
        return None;
    }
    let Some((features, batch)) = input.last_dims().split_last() else {
        let message = "`input` has no dimensions: linear needs at least one";
        cx.reject(RejectKind::Rank, message, vec![super::facts::shape_read("input", input)]);
        return None;
    };
    let weights = weight.shape.as_ref()?;
    let wanted = weights.last().cloned().unwrap_or(Dim::UNKNOWN);
    if features.size.equals(&wanted.size) == Some(false) {
        let message = format!(
            "the layer expects {}, but gets {}: `input` is {} and `weight` is {}",
            counted(&wanted.size, "feature"),
            features.size,
            shape_text(input),
            shape_text(weight)
        );
        let reads = vec![
            dim_read("input", "feature", features),
            (format!("the layer is created here, for {}", counted(&wanted.size, "feature")), wanted.at),
        ];
        cx.reject(RejectKind::Shape, message, reads);
    }
    input.shape.as_ref()?;
    let mut out = batch.to_vec();
    // A 1-dimensional weight is a vector: the result has no feature dimension.
    if weights.len() > 1 {
        out.push(dim_of(weight, 0));
    }
    Some(out)
}

fn bilinear(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (Some(left), Some(right), Some(weight)) =
        (cx.tensor_arg(b, "input1"), cx.tensor_arg(b, "input2"), cx.tensor_arg(b, "weight"))
    else {
        return cx.some_tensor();
    };
    let bias = cx.tensor_arg(b, "bias");
    let mut all = vec![("input1", &left), ("input2", &right), ("weight", &weight)];
    all.extend(bias.as_ref().map(|bias| ("bias", bias)));
    device::check(cx, &all);
    for (name, input, index) in [("input1", &left, 1), ("input2", &right, 2)] {
        let (Some(have), Some(wanted)) = (input.dim(-1), weight.dim(index)) else { continue };
        if have.size.equals(&wanted.size) == Some(false) {
            let message = format!(
                "`{name}` is {}: its last dimension is {}, but `weight` takes {}",
                shape_text(input),
                have.size,
                wanted.size
            );
            let reads = vec![dim_read(name, "feature", have), dim_read("weight", "feature", wanted)];
            cx.reject(RejectKind::Shape, message, reads);
        }
    }
    let dtype = product_dtype(cx, &[("input1", &left), ("input2", &right), ("weight", &weight)]).unwrap_or_default();
    let shape = left.shape.clone().map(|mut dims| {
        dims.pop();
        dims.push(dim_of(&weight, 0));
        dims
    });
    let at = cx.at();
    let out = result(cx, &[&left, &right, &weight], shape, dtype).with_role(Some(Role::Logits), at);
    cx.out(out)
}

/// Selects the row of the weight for each index. A contract checks that the indices are in range.
fn embedding(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let (input, weight) = (cx.tensor_arg(b, "input"), cx.tensor_arg(b, "weight"));
    let Some(weight) = weight else { return cx.some_tensor() };
    if let Some(input) = &input {
        device::check(cx, &[("input", input), ("weight", &weight)]);
        check_indices(cx, "input", input, &[Dtype::Int64, Dtype::Int32]);
    }
    if !check_rank(cx, "weight", &weight, &[2]) {
        return cx.some_tensor();
    }
    let shape = input.as_ref().and_then(|t| t.shape.clone()).map(|mut dims| {
        dims.push(dim_of(&weight, 1));
        dims
    });
    let dtype = weight.dtype;
    let mut out = result(cx, &[&weight], shape, dtype);
    (out.device, out.device_at) = agreed_device(&[&weight, &input.unwrap_or_default()]);
    cx.out(out)
}

fn embedding_bag(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let Some(weight) = cx.tensor_arg(b, "weight") else { return cx.some_tensor() };
    // PyTorch still accepts the old order, in which the weight comes first.
    if weight.dtype.is_some_and(Dtype::is_integral) {
        return cx.some_tensor();
    }
    let input = cx.tensor_arg(b, "input").unwrap_or_default();
    let (offsets, scales) = (cx.tensor_arg(b, "offsets"), cx.tensor_arg(b, "per_sample_weights"));
    let mut all = vec![("input", &input), ("weight", &weight)];
    all.extend(offsets.as_ref().map(|offsets| ("offsets", offsets)));
    all.extend(scales.as_ref().map(|scales| ("per_sample_weights", scales)));
    device::check(cx, &all);
    check_indices(cx, "input", &input, &[Dtype::Int64, Dtype::Int32]);
    let width = dim_of(&weight, 1);
    let bags = match input.shape.as_deref() {
        Some([bags, _]) => Some(bags.clone()),
        Some([_]) => offsets.and_then(|offsets| {
            let dim = offsets.dim(0)?.clone();
            match b.get("include_last_offset").as_bool() {
                Some(false) => Some(dim),
                Some(true) => Some(Dim::new(dim.size.sub(&Size::Int(1)), dim.at)),
                None => Some(Dim::UNKNOWN),
            }
        }),
        _ => None,
    };
    // The result has a row for each bag, regardless of how the bags are passed.
    let shape = Some(vec![bags.unwrap_or(Dim::UNKNOWN), width]);
    let dtype = weight.dtype;
    let operands: Vec<&Tensor> = std::iter::once(&weight).chain(&scales).collect();
    let out = result(cx, &operands, shape, dtype);
    cx.out(out)
}

fn from_pretrained(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let class = cx.path.as_str().trim_end_matches(".from_pretrained");
    let object = cx.it.heap.instance(Value::path(class));
    super::module::begin(cx, object);
    let weight = cx.tensor_arg(b, "embeddings").unwrap_or_default();
    for (name, index) in [("num_embeddings", 0), ("embedding_dim", 1)] {
        let size = Value::size(&dim_of(&weight, index).size);
        cx.it.heap.set_attr(object, name, size);
    }
    for param in b.sig.params.iter().skip(2) {
        cx.it.heap.set_attr(object, param.name.as_str(), b.get(param.name.as_str()));
    }
    let grad = match b.get("freeze").as_bool() {
        Some(true) => Grad::Off,
        Some(false) => Grad::Leaf,
        None => Grad::Unknown,
    };
    let value = super::layer::new_parameter(cx, weight, grad);
    cx.it.heap.set_attr(object, "weight", value);
    Value::Obj(object)
}

/// Broadcasts two tensors, and reduces the result along a dimension.
fn reduced(cx: &mut Cx<'_, '_>, b: &Bound, dim: &Value, keepdim: Option<bool>) -> Value {
    let (Some(x), Some(y)) = (cx.tensor_arg(b, "x1"), cx.tensor_arg(b, "x2")) else { return cx.some_tensor() };
    device::check(cx, &[("x1", &x), ("x2", &y)]);
    let shape = both_shapes(&x, &y).and_then(|mut dims| {
        let at = cx.dim_index(dim, dims.len(), x.shape_at).ok()??;
        match keepdim? {
            true => *dims.get_mut(at)? = Dim::new(Size::Int(1), cx.at()),
            false => {
                (at < dims.len()).then(|| dims.remove(at))?;
            }
        }
        Some(dims)
    });
    let dtype = floating_dtype(cx, &[&x, &y]);
    let out = result(cx, &[&x, &y], shape, dtype);
    cx.out(out)
}

fn cosine_similarity(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let dim = b.get("dim");
    let value = reduced(cx, b, &dim, Some(false));
    let at = cx.at();
    if let Some(id) = value.as_obj() {
        cx.it.heap.update_tensor(id, |t| {
            // Because of rounding errors, the result may exceed 1 slightly.
            *t = std::mem::take(t).with_range(Some(crate::value::Range::bounds(-1.001, 1.001)), at);
        });
    }
    value
}

fn pairwise_distance(cx: &mut Cx<'_, '_>, b: &Bound) -> Value {
    let keep = b.get("keepdim").as_bool();
    reduced(cx, b, &Value::Int(-1), keep)
}
