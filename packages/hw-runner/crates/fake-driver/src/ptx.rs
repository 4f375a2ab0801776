//! PTX text, parsed: enough of the language for thin kernels.

use std::collections::HashMap;

#[derive(Debug, Clone)]
pub enum Operand {
    Register(usize),
    Immediate(u64),
    /// [register + offset], or [variable + offset].
    Memory(Box<Operand>, u64),
    /// An address: a shared variable's name, resolved.
    Address(u64),
    Vector(Vec<Operand>),
    Special(&'static str),
    Parameter(usize),
    Label(usize),
}

#[derive(Debug, Clone)]
pub struct Instruction {
    /// Predicate register, and whether it is negated.
    pub guard: Option<(usize, bool)>,
    pub name: String,
    pub operands: Vec<Operand>,
}

pub struct Module {
    pub target: String,
    pub registers: usize,
    /// Bytes of each parameter, in order.
    pub instructions: Vec<Instruction>,
    /// Shared memory begins here, so that an address is never its offset.
    pub shared_base: u64,
    pub shared_bytes: usize,
    pub threads: u32,
}

const SPECIAL: [&str; 2] = ["%tid.x", "%ctaid.x"];
const SHARED_BASE: u64 = 0x400;

struct Parser {
    registers: HashMap<String, usize>,
    shared: HashMap<String, u64>,
    parameters: Vec<String>,
    labels: HashMap<String, usize>,
}

impl Parser {
    fn operand(&self, text: &str) -> Result<Operand, String> {
        let text = text.trim();
        if let Some(inner) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            let (base, offset) = match inner.split_once('+') {
                Some((base, offset)) => (base, offset.trim().parse().map_err(|_| format!("offset {offset}"))?),
                None => (inner, 0),
            };
            return Ok(Operand::Memory(Box::new(self.operand(base)?), offset));
        }
        if let Some(inner) = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')) {
            let items: Result<Vec<Operand>, String> = inner.split(',').map(|t| self.operand(t)).collect();
            return Ok(Operand::Vector(items?));
        }
        if let Some(name) = SPECIAL.iter().find(|s| **s == text) {
            return Ok(Operand::Special(name));
        }
        if let Some(index) = self.registers.get(text) {
            return Ok(Operand::Register(*index));
        }
        if let Some(address) = self.shared.get(text) {
            return Ok(Operand::Address(*address));
        }
        if let Some(index) = self.parameters.iter().position(|p| p == text) {
            return Ok(Operand::Parameter(index));
        }
        if let Some(index) = self.labels.get(text) {
            return Ok(Operand::Label(*index));
        }
        text.parse::<i64>()
            .map(|v| Operand::Immediate(v as u64))
            .or_else(|_| text.parse::<u64>().map(Operand::Immediate).map_err(|_| format!("unknown operand {text}")))
    }
}

/// Splits at commas outside brackets and braces.
fn operands(text: &str) -> Vec<String> {
    let (mut out, mut depth, mut current) = (Vec::new(), 0, String::new());
    for c in text.chars() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                out.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    if !current.trim().is_empty() {
        out.push(current);
    }
    out
}

pub fn parse(text: &str) -> Result<Module, String> {
    let mut parser =
        Parser { registers: HashMap::new(), shared: HashMap::new(), parameters: Vec::new(), labels: HashMap::new() };
    let directive = |name: &str| {
        text.lines().find_map(|l| l.trim().strip_prefix(name)).map(|l| l.trim().to_string()).ok_or(format!("no {name}"))
    };
    let target = directive(".target")?;
    let threads = directive(".maxntid")?.split(',').next().and_then(|t| t.trim().parse().ok()).ok_or("bad .maxntid")?;
    let head = text.split_once(".visible .entry bitmma(").ok_or("no entry bitmma")?.1;
    let (parameters, rest) = head.split_once(')').ok_or("no parameter list")?;
    for p in parameters.split(',') {
        parser.parameters.push(p.split_whitespace().last().ok_or("empty parameter")?.to_string());
    }
    let body = rest.split_once('{').ok_or("no body")?.1;
    let mut shared_end = SHARED_BASE;
    let mut statements: Vec<String> = Vec::new();
    for line in body.lines().map(str::trim).filter(|l| !l.is_empty() && *l != "}") {
        if let Some(declaration) = line.strip_prefix(".reg ") {
            let (_, names) = declaration.trim_end_matches(';').split_once(' ').ok_or("bad .reg")?;
            for name in names.split(',').map(str::trim) {
                let fresh: Vec<String> = match name.split_once('<') {
                    Some((stem, count)) => {
                        let count: usize = count.trim_end_matches('>').parse().map_err(|_| "bad .reg count")?;
                        (0..count).map(|i| format!("{stem}{i}")).collect()
                    }
                    None => vec![name.to_string()],
                };
                for name in fresh {
                    let next = parser.registers.len();
                    if parser.registers.insert(name.clone(), next).is_some() {
                        return Err(format!("register {name} declared twice"));
                    }
                }
            }
        } else if let Some(declaration) = line.strip_prefix(".shared .align ") {
            let words: Vec<&str> = declaration.split_whitespace().collect();
            let align: u64 = words[0].parse().map_err(|_| "bad .align")?;
            let (name, size) = words[2].trim_end_matches("];").split_once('[').ok_or("bad .shared")?;
            shared_end = shared_end.div_ceil(align) * align;
            parser.shared.insert(name.into(), shared_end);
            shared_end += size.parse::<u64>().map_err(|_| "bad .shared size")?;
        } else if let Some(label) = line.strip_suffix(':') {
            parser.labels.insert(label.into(), statements.len());
        } else {
            statements.push(line.strip_suffix(';').ok_or(format!("no ; after {line}"))?.to_string());
        }
    }
    let mut instructions = Vec::new();
    for statement in &statements {
        let mut rest = statement.as_str();
        let mut guard = None;
        if let Some(guarded) = rest.strip_prefix('@') {
            let (name, after) = guarded.split_once(' ').ok_or("bad guard")?;
            let (negated, name) = name.strip_prefix('!').map_or((false, name), |n| (true, n));
            guard = Some((*parser.registers.get(name).ok_or(format!("unknown predicate {name}"))?, negated));
            rest = after.trim();
        }
        let (name, arguments) = rest.split_once(' ').unwrap_or((rest, ""));
        let operands: Result<Vec<Operand>, String> = operands(arguments).iter().map(|o| parser.operand(o)).collect();
        instructions.push(Instruction {
            guard,
            name: name.into(),
            operands: operands.map_err(|why| format!("{statement}: {why}"))?,
        });
    }
    Ok(Module {
        target,

        registers: parser.registers.len(),
        instructions,
        shared_base: SHARED_BASE,
        shared_bytes: (shared_end - SHARED_BASE) as usize,
        threads,
    })
}
