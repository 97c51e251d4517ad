//! The modules that define public names, as programs import them:
//! `from torch.nn.utils.clip_grad import clip_grad_norm_`.

use super::table::Table;

/// Makes each name in its defining module an alias of the public name. The modules and names are in
/// `data/definitions.txt`.
pub(crate) fn register(t: &mut Table) {
    for line in include_str!("data/definitions.txt").lines().filter(|line| !line.starts_with('#')) {
        let Some((defining, public)) = line.split_once(": ") else { continue };
        let mut names = public.split(' ');
        let Some(public) = names.next() else { continue };
        for name in names {
            t.alias(&format!("{defining}.{name}"), &format!("{public}.{name}"));
        }
    }
}
