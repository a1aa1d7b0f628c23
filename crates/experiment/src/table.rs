//! Rows of results as Parquet: one row for each set, one column for each question.

use crate::evaluate::Answer;
use parquet::basic::Compression;
use parquet::data_type::{DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// What was found about some sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The number of the point of each row.
    pub points: Vec<u32>,
    /// The number of the set within its point.
    pub indices: Vec<u32>,
    /// The set's own seed.
    pub seeds: Vec<u64>,
    /// For each question the answers of all rows.
    pub answers: Vec<Vec<Answer>>,
}

/// The key under which a file names the experiment it belongs to.
const FINGERPRINT: &str = "vestal.fingerprint";

impl Table {
    /// A table for this many questions.
    #[must_use]
    pub fn new(questions: usize) -> Self {
        Self {
            answers: vec![Vec::new(); questions],
            ..Self::default()
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.points.len()
    }

    /// Adds a row.
    pub fn push(&mut self, point: u32, index: u32, seed: u64, answers: &[Answer]) {
        self.points.push(point);
        self.indices.push(index);
        self.seeds.push(seed);
        for (column, answer) in self.answers.iter_mut().zip(answers) {
            column.push(*answer);
        }
    }

    /// Adds the rows of another table.
    pub fn append(&mut self, mut other: Self) {
        self.points.append(&mut other.points);
        self.indices.append(&mut other.indices);
        self.seeds.append(&mut other.seeds);
        for (column, other) in self.answers.iter_mut().zip(&mut other.answers) {
            column.append(other);
        }
    }

    /// The table as the bytes of a Parquet file. The same table gives the same bytes.
    ///
    /// # Errors
    /// What the library says.
    pub fn to_parquet(
        &self,
        columns: &[String],
        fingerprint: &str,
    ) -> Result<Vec<u8>, ParquetError> {
        let mut schema = String::from(
            "message result { required int32 point; required int32 index; required int64 seed;",
        );
        for number in 0..columns.len() {
            schema.push_str(&format!(" required int32 q{number};"));
        }
        schema.push('}');
        let mut facts = vec![KeyValue::new(
            FINGERPRINT.to_owned(),
            fingerprint.to_owned(),
        )];
        for (number, name) in columns.iter().enumerate() {
            facts.push(KeyValue::new(format!("vestal.q{number}"), name.clone()));
        }
        let properties = WriterProperties::builder()
            .set_created_by("vestal-experiment".to_owned())
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(facts))
            .build();
        let schema = Arc::new(parse_message_type(&schema)?);
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let signed = |values: &[u32]| values.iter().map(|value| value.cast_signed()).collect();
        column::<Int32Type>(&mut group, signed(&self.points))?;
        column::<Int32Type>(&mut group, signed(&self.indices))?;
        let seeds = self.seeds.iter().map(|seed| seed.cast_signed()).collect();
        column::<Int64Type>(&mut group, seeds)?;
        for answers in &self.answers {
            column::<Int32Type>(
                &mut group,
                answers.iter().map(|&answer| answer as i32).collect(),
            )?;
        }
        group.close()?;
        writer.close()?;
        Ok(bytes)
    }

    /// Reads what [`Table::to_parquet`] wrote for the same experiment.
    ///
    /// # Errors
    /// In words, what is wrong with the file.
    pub fn read(path: &Path, columns: &[String], fingerprint: &str) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| error.to_string())?;
        let reader = SerializedFileReader::new(file).map_err(|error| error.to_string())?;
        let metadata = reader.metadata().file_metadata();
        let facts = metadata.key_value_metadata();
        let owner = facts.and_then(|facts| facts.iter().find(|fact| fact.key == FINGERPRINT));
        if owner.and_then(|fact| fact.value.as_deref()) != Some(fingerprint) {
            return Err("it belongs to another experiment".to_owned());
        }
        let mut table = Self::new(columns.len());
        for group in 0..reader.num_row_groups() {
            let part =
                read_group(&reader, group, columns.len()).map_err(|error| error.to_string())?;
            table.append(part.ok_or("a column is missing, or an answer is none")?);
        }
        let rows = table.rows();
        let complete = table.answers.iter().all(|column| column.len() == rows);
        match complete && table.indices.len() == rows && table.seeds.len() == rows {
            true => Ok(table),
            false => Err("its columns differ in length".to_owned()),
        }
    }
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    values: Vec<T::T>,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else {
        return Err(ParquetError::General("a column too many".to_owned()));
    };
    writer.typed::<T>().write_batch(&values, None, None)?;
    writer.close()
}

fn read_group(
    reader: &SerializedFileReader<File>,
    group: usize,
    questions: usize,
) -> Result<Option<Table>, ParquetError> {
    let group = reader.get_row_group(group)?;
    let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
    let small = |at: usize| -> Result<Option<Vec<i32>>, ParquetError> {
        if at >= group.num_columns() {
            return Ok(None);
        }
        let parquet::column::reader::ColumnReader::Int32ColumnReader(mut column) =
            group.get_column_reader(at)?
        else {
            return Ok(None);
        };
        let mut values = Vec::with_capacity(rows);
        column.read_records(rows, None, None, &mut values)?;
        Ok(Some(values))
    };
    let unsigned = |values: Vec<i32>| values.into_iter().map(i32::cast_unsigned).collect();
    let (Some(points), Some(indices)) = (small(0)?, small(1)?) else {
        return Ok(None);
    };
    let mut table = Table {
        points: unsigned(points),
        indices: unsigned(indices),
        ..Table::default()
    };
    let parquet::column::reader::ColumnReader::Int64ColumnReader(mut column) =
        group.get_column_reader(2)?
    else {
        return Ok(None);
    };
    let mut seeds = Vec::with_capacity(rows);
    column.read_records(rows, None, None, &mut seeds)?;
    table.seeds = seeds.into_iter().map(i64::cast_unsigned).collect();
    for question in 0..questions {
        let Some(numbers) = small(3 + question)? else {
            return Ok(None);
        };
        let answers: Option<Vec<Answer>> = numbers.into_iter().map(Answer::from_number).collect();
        let Some(answers) = answers else {
            return Ok(None);
        };
        table.answers.push(answers);
    }
    Ok(Some(table))
}
