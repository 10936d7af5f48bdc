//! What a source file says of other modules: its `mod` and `use` items, what it defines, and every path in its code.
//!
//! Files are read as tokens, so that comments and strings say nothing, and the arguments of macros count like other
//! code. What is behind `#[cfg(test)]` is left out: tests may use what they like.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::iter::Peekable;
use std::vec::IntoIter;

/// `use a::b::c as d`, with the whole path of one leaf of the tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Import {
    /// The path; for `use a::b::*` that of `b`.
    pub(crate) path: Vec<String>,
    /// The name that it gets here; `None` for `*`.
    pub(crate) name: Option<String>,
}

/// What a file says.
#[derive(Clone, Default, Debug)]
pub(crate) struct Source {
    /// Child modules in files of their own.
    pub(crate) children: Vec<String>,
    /// Names that are defined here.
    pub(crate) defined: BTreeSet<String>,
    /// Every leaf of every `use`.
    pub(crate) imports: Vec<Import>,
    /// Every other path of at least two names.
    pub(crate) paths: Vec<Vec<String>>,
}

/// Reads a file.
///
/// # Panics
/// If it is not Rust.
pub(crate) fn read(text: &str) -> Source {
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("not Rust: {error}\n{text}"));
    let mut source = Source::default();
    walk(tokens, &mut source, true);
    source
}

type Tokens = Peekable<IntoIter<TokenTree>>;

fn tokens(stream: TokenStream) -> Tokens {
    stream.into_iter().collect::<Vec<_>>().into_iter().peekable()
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

/// Walks through code; `is_top` outside all braces but those of inline modules, where items of the module stand.
fn walk(stream: TokenStream, source: &mut Source, is_top: bool) {
    let mut rest = tokens(stream);
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == '#' => {
                let is_inner = is_punct(rest.peek(), '!');
                if is_inner {
                    rest.next();
                }
                if let Some(TokenTree::Group(attribute)) = rest.peek() {
                    let is_test = attribute.stream().to_string().replace(' ', "") == "cfg(test)";
                    rest.next();
                    if is_test && !is_inner {
                        skip_item(&mut rest);
                    }
                }
            }
            TokenTree::Group(group) => walk(group.stream(), source, false),
            TokenTree::Ident(ident) => word(&ident.to_string(), &mut rest, source, is_top),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Leaves out an item: to its semicolon, or to the end of its braces.
fn skip_item(rest: &mut Tokens) {
    for token in rest.by_ref() {
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ';' => return,
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
            _ => {}
        }
    }
}

fn word(word: &str, rest: &mut Tokens, source: &mut Source, is_top: bool) {
    const DEFINES: [&str; 9] =
        ["struct", "enum", "union", "trait", "fn", "const", "static", "type", "macro_rules"];
    if word == "use" {
        let mut tree = Vec::new();
        for token in rest.by_ref() {
            if is_punct(Some(&token), ';') {
                break;
            }
            tree.push(token);
        }
        import(tree.into_iter().collect(), &[], source);
        return;
    }
    if let (true, "mod", Some(TokenTree::Ident(name))) = (is_top, word, rest.peek().cloned()) {
        rest.next();
        match rest.peek().cloned() {
            Some(TokenTree::Group(body)) => {
                rest.next();
                source.defined.insert(name.to_string());
                // Its items are this file's; nobody asks which of the two modules they stand in.
                walk(body.stream(), source, true);
            }
            _ => source.children.push(name.to_string()),
        }
        return;
    }
    if is_top && DEFINES.contains(&word) {
        if is_punct(rest.peek(), '!') {
            rest.next();
        }
        if let Some(TokenTree::Ident(name)) = rest.peek() {
            source.defined.insert(name.to_string());
        }
        return;
    }
    let mut path = vec![word.to_owned()];
    while let Some(name) = next_of_path(rest) {
        path.push(name);
    }
    if path.len() > 1 {
        source.paths.push(path);
    }
}

/// Takes `::name`.
fn next_of_path(rest: &mut Tokens) -> Option<String> {
    let mut ahead = rest.clone();
    if !(is_punct(ahead.next().as_ref(), ':') && is_punct(ahead.next().as_ref(), ':')) {
        return None;
    }
    let Some(TokenTree::Ident(name)) = ahead.next() else { return None };
    *rest = ahead;
    Some(name.to_string())
}

/// Adds the leaves of a tree behind `use`.
fn import(stream: TokenStream, before: &[String], source: &mut Source) {
    let mut branches: Vec<Vec<TokenTree>> = vec![Vec::new()];
    for token in stream {
        if is_punct(Some(&token), ',') {
            branches.push(Vec::new());
        } else {
            branches.last_mut().expect("never empty").push(token);
        }
    }
    for branch in branches.into_iter().filter(|branch| !branch.is_empty()) {
        let mut path = before.to_vec();
        let mut name = None;
        let mut rest = branch.into_iter().peekable();
        let mut leaf = true;
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    name = rest.next().map(|alias| alias.to_string());
                }
                TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) => {
                    import(group.stream(), &path, source);
                    leaf = false;
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    source.imports.push(Import { path: path.clone(), name: None });
                    leaf = false;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
        if leaf {
            let name = name.or_else(|| path.last().cloned());
            source.imports.push(Import { path, name });
        }
    }
}
