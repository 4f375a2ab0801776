//! `serve`: keeps the device open and answers requests on pipes, for a program that wraps this one.
//!
//! Request: length (8 bytes, little-endian), then that many bytes: a binary vector file, d absent. Answer: one byte
//! (0, or the exit code that the error has), length (8 bytes), then d of every record as little-endian words, or the
//! error's text. After an error of the device the process ends.

use super::open_worker;
use super::options::Options;
use crate::error::{Error, Result};
use crate::image::Answer;
use crate::session::{describe, Session};
use crate::vectors::binary::Reader;
use std::io::{stdin, stdout, Read, Write};

/// Requests larger than this are refused: a length that is no length.
const LIMIT: u64 = 1 << 34;

pub fn serve(options: &Options) -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let mut session = Session::new(open_worker(options)?);
    loop {
        let mut length = [0u8; 8];
        match input.read_exact(&mut length) {
            Ok(()) => {}
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(e) => return Err(e.into()),
        }
        let length = u64::from_le_bytes(length);
        if length > LIMIT {
            return Err(Error::Input(format!("request: expected at most {LIMIT} bytes, got {length}")));
        }
        let mut bytes = vec![0u8; length as usize];
        input.read_exact(&mut bytes)?;
        let answer = answer(&mut session, &bytes);
        let (code, payload) = match &answer {
            Ok(words) => (0, words.clone()),
            Err(error) => (error.exit_code() as u8, error.to_string().into_bytes()),
        };
        output.write_all(&[code])?;
        output.write_all(&(payload.len() as u64).to_le_bytes())?;
        output.write_all(&payload)?;
        output.flush()?;
        if let Err(error @ Error::Device(_)) = answer {
            return Err(error);
        }
    }
}

fn answer(session: &mut Session, bytes: &[u8]) -> Result<Vec<u8>> {
    let mut reader = Reader::open(bytes, "request")?;
    let prepared = session.prepare(&reader.header.instruction)?;
    let width = reader.header.d_bits / 8;
    let mut out = Vec::new();
    loop {
        let batch = reader.batch(16384)?;
        if batch.is_empty() {
            return Ok(out);
        }
        let cases: Vec<_> = batch.iter().map(|r| &r.case).collect();
        for (record, answer) in batch.iter().zip(session.run(&prepared, &cases)?) {
            match answer {
                Answer::Word(d) => out.extend_from_slice(&d.to_le_bytes()[..width]),
                Answer::Disagree(words) => {
                    return Err(Error::Position(format!(
                        "{}: output elements of case {} disagree: {}",
                        record.instruction,
                        record.id,
                        describe(&words)
                    )))
                }
            }
        }
    }
}
