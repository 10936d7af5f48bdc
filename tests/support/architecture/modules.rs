//! The modules of a crate, what each uses of the others, and the circles and wrong directions among them.

use crate::source::{self, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The path of a module within all crates: the name of the crate, then those of the modules.
pub(crate) type ModulePath = Vec<String>;

/// A module in a file of its own.
#[derive(Debug)]
pub(crate) struct Module {
    /// Its file.
    pub(crate) file: PathBuf,
    /// What that says.
    pub(crate) source: Source,
}

/// The modules of some crates.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    modules: BTreeMap<ModulePath, Module>,
}

/// Modules that use one another, in a ring or several.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Circle {
    /// `parent: a, b`, where `a` and `b` are children of `parent`.
    pub(crate) name: String,
    /// Which file uses which, one line each.
    pub(crate) uses: Vec<String>,
}

/// How many steps names are followed through `use` items.
const MOST_STEPS: usize = 32;

/// Which child of a module uses which, and by which files.
type Edges<'a> = BTreeMap<(&'a str, &'a str), Vec<String>>;

impl Modules {
    /// Reads a crate from its root file.
    pub(crate) fn add_crate(&mut self, name: &str, root: &Path) {
        let folder = root.parent().expect("a file has a folder").to_owned();
        self.add(vec![name.to_owned()], root.to_owned(), &folder);
    }

    fn add(&mut self, path: ModulePath, file: PathBuf, folder: &Path) {
        let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let source = source::read(&text);
        for child in &source.children {
            let flat = folder.join(format!("{child}.rs"));
            let own = folder.join(child);
            let mut child_path = path.clone();
            child_path.push(child.clone());
            let child_file = if flat.is_file() { flat } else { own.join("mod.rs") };
            self.add(child_path, child_file, &own);
        }
        self.modules.insert(path, Module { file, source });
    }

    /// All modules.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&ModulePath, &Module)> {
        self.modules.iter()
    }

    /// The module in which a path ends that stands in module `from`; `None` if it leads out of the crates.
    fn resolve(&self, from: &[String], path: &[String], steps: usize) -> Option<ModulePath> {
        let steps = steps.checked_sub(1)?;
        let (first, rest) = path.split_first()?;
        let mut at = match first.as_str() {
            "crate" => vec![from[0].clone()],
            "self" => from.to_vec(),
            "super" => from[..from.len() - 1].to_vec(),
            name if self.modules.contains_key(&vec![name.to_owned()]) => vec![name.to_owned()],
            // A name that `from` does not know is another crate's, or of the language.
            name if !self.knows(from, name) => return None,
            _ => return self.resolve_name(from, first, rest, steps),
        };
        let mut rest = rest;
        while let Some((next, behind)) = rest.split_first() {
            if next == "super" {
                at.pop();
                rest = behind;
                continue;
            }
            return self.resolve_name(&at, next, behind, steps);
        }
        self.modules.contains_key(&at).then_some(at)
    }

    /// The same for a name that is looked for in module `at`, and what stands behind it.
    fn resolve_name(&self, at: &[String], name: &str, rest: &[String], steps: usize) -> Option<ModulePath> {
        let module = self.modules.get(at)?;
        let mut child = at.to_vec();
        child.push(name.to_owned());
        if self.modules.contains_key(&child) {
            return match rest.split_first() {
                Some((next, behind)) => self.resolve_name(&child, next, behind, steps),
                None => Some(child),
            };
        }
        if module.source.defined.contains(name) {
            return Some(at.to_vec());
        }
        let imports = &module.source.imports;
        if let Some(import) = imports.iter().find(|import| import.name.as_deref() == Some(name)) {
            let whole: Vec<String> = import.path.iter().chain(rest).cloned().collect();
            return if import.path.len() == 1 && import.path[0] == name {
                None
            } else {
                self.resolve(at, &whole, steps.checked_sub(1)?)
            };
        }
        // What comes by `*`; otherwise a macro has defined it.
        imports
            .iter()
            .filter(|import| import.name.is_none())
            .find_map(|import| {
                let to = self.resolve(at, &import.path, steps)?;
                if self.knows(&to, name) {
                    self.resolve_name(&to, name, rest, steps.checked_sub(1)?)
                } else {
                    None
                }
            })
            .or_else(|| Some(at.to_vec()))
    }

    /// Does a module define, import or contain a name, `*` left out?
    fn knows(&self, at: &[String], name: &str) -> bool {
        let Some(module) = self.modules.get(at) else { return false };
        let mut child = at.to_vec();
        child.push(name.to_owned());
        module.source.defined.contains(name)
            || self.modules.contains_key(&child)
            || module.source.imports.iter().any(|import| import.name.as_deref() == Some(name))
    }

    /// The modules that each module uses, itself left out.
    pub(crate) fn uses(&self) -> BTreeSet<(ModulePath, ModulePath)> {
        let mut found = BTreeSet::new();
        for (from, module) in &self.modules {
            let imports = module.source.imports.iter().map(|import| &import.path);
            for path in imports.chain(&module.source.paths) {
                if let Some(to) = self.resolve(from, path, MOST_STEPS).filter(|to| to != from) {
                    found.insert((from.clone(), to));
                }
            }
        }
        found
    }

    /// Circles among the children of each module, where all that is below a child counts as the child. A module and
    /// what is below it may use each other.
    pub(crate) fn circles(&self) -> Vec<Circle> {
        let mut edges: BTreeMap<&[String], Edges<'_>> = BTreeMap::new();
        let uses = self.uses();
        for (from, to) in &uses {
            let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            if let (true, Some(a), Some(b)) = (shared > 0, from.get(shared), to.get(shared)) {
                let line = format!("{} uses {}", from.join("::"), to.join("::"));
                edges.entry(&from[..shared]).or_default().entry((a, b)).or_default().push(line);
            }
        }
        let mut circles = Vec::new();
        for (parent, edges) in edges {
            for ring in rings(edges.keys().copied()) {
                let within = |pair: &&(&str, &str)| ring.contains(pair.0) && ring.contains(pair.1);
                let uses = edges.keys().filter(within).flat_map(|pair| edges[pair].clone()).collect();
                let names: Vec<&str> = ring.iter().copied().collect();
                circles.push(Circle { name: format!("{}: {}", parent.join("::"), names.join(", ")), uses });
            }
        }
        circles
    }

    /// Uses among the top modules of a crate against an order in which a module may use those before it. `Err` if
    /// there is a module that the order does not name.
    pub(crate) fn against(&self, name: &str, order: &[&str]) -> Result<Vec<String>, String> {
        let place = |module: &str| order.iter().position(|&known| known == module);
        let tops = self.modules.keys().filter(|path| path[0] == name).filter_map(|path| path.get(1));
        if let Some(unknown) = tops.clone().find(|top| place(top).is_none()) {
            return Err(format!("the order of {name} does not name the module {unknown}"));
        }
        if let Some(gone) = order.iter().find(|&&known| !tops.clone().any(|top| top == known)) {
            return Err(format!("the order of {name} names {gone}, which is no module"));
        }
        let of_crate = |path: &ModulePath| path.get(1).filter(|_| path[0] == name).cloned();
        let wrong = self.uses().into_iter().filter_map(|(from, to)| {
            let (a, b) = (of_crate(&from)?, of_crate(&to)?);
            (place(&b) > place(&a)).then(|| format!("{} uses {}", from.join("::"), to.join("::")))
        });
        Ok(wrong.collect())
    }

    /// Is there a use of module `to`, or of what is below it, by a crate of this name?
    pub(crate) fn crate_uses(&self, name: &str, to: &str) -> bool {
        self.uses().iter().any(|(from, used)| from[0] == name && used[0] == to)
    }
}

/// The strongly connected components of more than one node.
fn rings<'a>(edges: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> Vec<BTreeSet<&'a str>> {
    let nodes: BTreeSet<&str> = edges.clone().flat_map(|(a, b)| [a, b]).collect();
    let reach = |start: &'a str| {
        let mut reached = BTreeSet::new();
        let mut todo = vec![start];
        while let Some(node) = todo.pop() {
            let next = edges.clone().filter(|&(a, _)| a == node).map(|(_, b)| b);
            todo.extend(next.filter(|&b| reached.insert(b)));
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = nodes.iter().map(|&node| (node, reach(node))).collect();
    let mut rings: Vec<BTreeSet<&str>> = Vec::new();
    for &node in &nodes {
        let ring: BTreeSet<&str> = nodes
            .iter()
            .copied()
            .filter(|other| reached[node].contains(other) && reached[other].contains(node))
            .collect();
        if ring.len() > 1 && !rings.contains(&ring) {
            rings.push(ring);
        }
    }
    rings
}
