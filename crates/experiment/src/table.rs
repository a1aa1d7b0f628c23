//! Rows of results as Parquet: one row for each set, with the parameters of its point, a column for
//! each question's answer, and behind them one for each count of a measure. Every file is sealed ([`crate::checksum`]), and nothing of a file whose checksum
//! differs gets to the library that reads Parquet: it panics at some damaged files, and takes others for
//! good.

use crate::checksum;
use crate::evaluate::{Answer, Found};
use crate::file::{Experiment, Point};
use crate::measure::Asked;
use bytes::Bytes;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::record::RowAccessor;
use parquet::schema::types::Type;
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
    /// For each count of a measure those of all rows.
    pub counts: Vec<Vec<u64>>,
}

/// How many columns of which kind a table has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Width {
    /// Answers.
    pub answers: usize,
    /// Counts.
    pub counts: usize,
}

impl Width {
    /// Of a table for these questions.
    #[must_use]
    pub fn of(asked: &[Asked]) -> Self {
        Self {
            answers: asked.len(),
            counts: asked.iter().map(|asked| asked.counts().len()).sum(),
        }
    }
}

/// The keys under which a file has the fingerprint and the text of the experiment it belongs to.
const FINGERPRINT: &str = "vestal.fingerprint";
const EXPERIMENT: &str = "vestal.experiment";

/// What a file of results has besides the answers.
#[derive(Clone, Debug)]
pub struct Layout {
    fingerprint: String,
    experiment: String,
    parameters: Vec<Parameter>,
    questions: Vec<String>,
    counts: Vec<String>,
}

/// A parameter that varies, with its value at each point.
#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    values: Vec<String>,
}

impl Parameter {
    /// All values as numbers; `None` if one is none.
    fn numbers(&self) -> Option<Vec<f64>> {
        let number = |text: &String| text.parse().ok().filter(|number: &f64| number.is_finite());
        self.values.iter().map(number).collect()
    }
}

impl Layout {
    /// For the files of an experiment, whose fingerprint is that of its manifest.
    #[must_use]
    pub fn new(
        experiment: &Experiment,
        points: &[Point],
        fingerprint: &str,
        asked: &[Asked],
    ) -> Self {
        let axes = experiment.axes.iter().enumerate();
        let parameters = axes.map(|(at, axis)| Parameter {
            name: axis.name.clone(),
            values: points
                .iter()
                .map(|point| point.values[at].clone())
                .collect(),
        });
        Self {
            fingerprint: fingerprint.to_owned(),
            experiment: experiment.source.text.clone(),
            parameters: parameters.collect(),
            questions: asked.iter().map(|asked| asked.label.clone()).collect(),
            counts: asked.iter().flat_map(Asked::counts).collect(),
        }
    }

    fn schema(&self) -> Result<Type, ParquetError> {
        let unsigned = |bits| Some(LogicalType::integer(bits, false));
        let mut columns = vec![
            ("point", Physical::INT32, unsigned(32)),
            ("index", Physical::INT32, unsigned(32)),
            ("seed", Physical::INT64, unsigned(64)),
        ];
        for parameter in &self.parameters {
            columns.push(match parameter.numbers() {
                Some(_) => (&parameter.name, Physical::DOUBLE, None),
                None => (
                    &parameter.name,
                    Physical::BYTE_ARRAY,
                    Some(LogicalType::String),
                ),
            });
        }
        let questions = self.questions.iter();
        columns.extend(questions.map(|name| (name.as_str(), Physical::INT32, unsigned(8))));
        let counts = self.counts.iter();
        columns.extend(counts.map(|name| (name.as_str(), Physical::INT64, unsigned(64))));
        let mut taken: Vec<String> = Vec::new();
        let mut fields = Vec::new();
        for (name, physical, logical) in columns {
            taken.push(free(name, &taken));
            let column = Type::primitive_type_builder(&taken[taken.len() - 1], physical)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(logical);
            fields.push(Arc::new(column.build()?));
        }
        Type::group_type_builder("result")
            .with_fields(fields)
            .build()
    }
}

/// The name, or with a number if another column has it.
fn free(name: &str, taken: &[String]) -> String {
    let mut found = name.to_owned();
    let mut number = 2;
    while taken.contains(&found) {
        found = format!("{name}#{number}");
        number += 1;
    }
    found
}

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is not what was written: what is wrong, in words.
    Damaged(String),
    /// It is whole, and of another experiment.
    Foreign,
}

impl Table {
    /// A table of so many columns.
    #[must_use]
    pub fn new(width: Width) -> Self {
        Self {
            answers: vec![Vec::new(); width.answers],
            counts: vec![Vec::new(); width.counts],
            ..Self::default()
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.points.len()
    }

    /// Adds a row.
    pub fn push(&mut self, point: u32, index: u32, seed: u64, found: &Found) {
        self.points.push(point);
        self.indices.push(index);
        self.seeds.push(seed);
        for (column, answer) in self.answers.iter_mut().zip(&found.answers) {
            column.push(*answer);
        }
        for (column, count) in self.counts.iter_mut().zip(&found.counts) {
            column.push(*count);
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
        for (column, other) in self.counts.iter_mut().zip(&mut other.counts) {
            column.append(other);
        }
    }

    /// The table as the bytes of a sealed Parquet file. The same table gives the same bytes.
    ///
    /// # Errors
    /// What the library says.
    pub fn to_parquet(&self, layout: &Layout) -> Result<Vec<u8>, ParquetError> {
        let fact = |key: &str, value: &str| KeyValue::new(key.to_owned(), value.to_owned());
        let facts = vec![
            fact(FINGERPRINT, &layout.fingerprint),
            fact(EXPERIMENT, &layout.experiment),
            fact(checksum::KEY, checksum::UNSEALED),
        ];
        let properties = WriterProperties::builder()
            .set_created_by("vestal-experiment".to_owned())
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(facts))
            .build();
        let schema = Arc::new(layout.schema()?);
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties))?;
        let mut group = writer.next_row_group()?;
        let signed = |values: &[u32]| values.iter().map(|value| value.cast_signed()).collect();
        column::<Int32Type>(&mut group, signed(&self.points))?;
        column::<Int32Type>(&mut group, signed(&self.indices))?;
        let seeds = self.seeds.iter().map(|seed| seed.cast_signed()).collect();
        column::<Int64Type>(&mut group, seeds)?;
        for parameter in &layout.parameters {
            match parameter.numbers() {
                Some(numbers) => column::<DoubleType>(&mut group, self.by_point(&numbers)?)?,
                None => {
                    let texts: Vec<ByteArray> = parameter
                        .values
                        .iter()
                        .map(|text| text.as_str().into())
                        .collect();
                    column::<ByteArrayType>(&mut group, self.by_point(&texts)?)?;
                }
            }
        }
        for answers in &self.answers {
            let numbers = answers.iter().map(|&answer| answer as i32).collect();
            column::<Int32Type>(&mut group, numbers)?;
        }
        for counts in &self.counts {
            let numbers = counts.iter().map(|count| count.cast_signed()).collect();
            column::<Int64Type>(&mut group, numbers)?;
        }
        group.close()?;
        writer.close()?;
        match checksum::seal(&mut bytes) {
            true => Ok(bytes),
            false => Err(ParquetError::General("no place for a checksum".to_owned())),
        }
    }

    /// For each row the value of its point.
    fn by_point<T: Clone>(&self, values: &[T]) -> Result<Vec<T>, ParquetError> {
        let values = self
            .points
            .iter()
            .map(|&point| values.get(point as usize).cloned());
        let found: Option<Vec<T>> = values.collect();
        found.ok_or_else(|| ParquetError::General("a row of a point that is none".to_owned()))
    }

    /// Reads what [`Table::to_parquet`] wrote for the experiment of this fingerprint.
    ///
    /// # Errors
    /// [`Unfit`] if the file is damaged or another experiment's.
    pub fn read(bytes: Vec<u8>, width: Width, fingerprint: &str) -> Result<Self, Unfit> {
        if !checksum::is_sealed(&bytes) {
            let what = "its checksum is not that of its bytes";
            return Err(Unfit::Damaged(what.to_owned()));
        }
        Self::read_unchecked(bytes, width, fingerprint)
    }

    /// The same without a look at the checksum.
    fn read_unchecked(bytes: Vec<u8>, width: Width, fingerprint: &str) -> Result<Self, Unfit> {
        let damaged = |error: ParquetError| Unfit::Damaged(error.to_string());
        let wrong = |what: &str| Unfit::Damaged(what.to_owned());
        let reader = SerializedFileReader::new(Bytes::from(bytes)).map_err(damaged)?;
        let facts = reader.metadata().file_metadata().key_value_metadata();
        let owner = facts.and_then(|facts| facts.iter().find(|fact| fact.key == FINGERPRINT));
        if owner.and_then(|fact| fact.value.as_deref()) != Some(fingerprint) {
            return Err(Unfit::Foreign);
        }
        let columns = reader.metadata().file_metadata().schema_descr();
        let columns = columns.num_columns();
        // The answers stand last, but for the counts.
        let first = columns.checked_sub(width.answers + width.counts);
        let first = first.filter(|first| *first >= 3);
        let first = first.ok_or_else(|| wrong("a column is missing"))?;
        let counts = first + width.answers;
        let mut table = Self::new(width);
        for row in reader.get_row_iter(None).map_err(damaged)? {
            let row = row.map_err(damaged)?;
            let (point, index) = (row.get_uint(0), row.get_uint(1));
            let seed = row.get_ulong(2).map_err(damaged)?;
            let answers = (first..counts).map(|at| row.get_ubyte(at));
            let answers: Vec<u8> = answers.collect::<Result<_, _>>().map_err(damaged)?;
            let answers = answers.into_iter().map(Answer::from_number);
            let answers: Option<Vec<Answer>> = answers.collect();
            let answers = answers.ok_or_else(|| wrong("an answer is none"))?;
            let counts = (counts..columns).map(|at| row.get_ulong(at));
            let counts: Vec<u64> = counts.collect::<Result<_, _>>().map_err(damaged)?;
            let (point, index) = (point.map_err(damaged)?, index.map_err(damaged)?);
            table.push(point, index, seed, &Found { answers, counts });
        }
        Ok(table)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Counted, Measure};
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use vestal_workload::Source;
    use vestal_workload::generate::derived_seed;

    const TEXT: &str = "format = \"vestal-experiment/1\"\nname = \"x\"\nrecipe = \"huang2014\"\n\
                        sets = 60\ntests = [\"a\", \"b\"]\n[vary]\nutilization = [0.25, 0.5]\n\
                        inflate_level0 = [true, false]\n";
    const FINGERPRINT: &str = "0123456789abcdef";

    const WIDTH: Width = Width {
        answers: 2,
        counts: 2,
    };

    /// Sixty sets of the last point: all yes to the first question, every third no to the second, which counts.
    fn example() -> (Table, Layout) {
        let experiment = Experiment::parse(&Source::new("x", TEXT)).unwrap();
        let mut table = Table::new(WIDTH);
        for index in 0..60 {
            let second = [Answer::No, Answer::Yes, Answer::Undecided][index as usize % 3];
            let seed = derived_seed(1, &[3, u64::from(index)]);
            let found = Found {
                answers: vec![Answer::Yes, second],
                counts: vec![u64::from(index), u64::MAX],
            };
            table.push(3, index, seed, &found);
        }
        let asked = [
            Asked::answered("amc-rtb"),
            Asked {
                label: "index".to_owned(),
                counted: Some(Counted {
                    measure: Measure::named("miss-ratio").unwrap(),
                    levels: vec!["LO".to_owned()],
                }),
                taken: None,
            },
        ];
        assert_eq!(Width::of(&asked), WIDTH);
        let layout = Layout::new(&experiment, &experiment.points(), FINGERPRINT, &asked);
        (table, layout)
    }

    fn bytes() -> Vec<u8> {
        let (table, layout) = example();
        table.to_parquet(&layout).unwrap()
    }

    /// Every file that differs from `bytes` in a single bit, and every beginning of it.
    fn damages(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        let flips = (0..bytes.len() * 8).map(|bit| {
            let mut damaged = bytes.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            damaged
        });
        flips.chain((0..bytes.len()).map(|length| bytes[..length].to_vec()))
    }

    #[test]
    fn no_flipped_bit_and_no_truncation_is_read() {
        let bytes = bytes();
        let table = Table::read(bytes.clone(), WIDTH, FINGERPRINT).unwrap();
        assert_eq!(table, example().0);
        let damages: Vec<Vec<u8>> = damages(&bytes).collect();
        assert!(damages.len() > 9000, "{}", damages.len());
        for damaged in damages {
            let found = Table::read(damaged, WIDTH, FINGERPRINT);
            assert!(matches!(found, Err(Unfit::Damaged(_))), "{found:?}");
        }
    }

    /// What the checksum is for: without it, some files are read as other answers, and some make
    /// the library panic.
    #[test]
    fn control_a_reader_without_the_checksum_reads_other_answers() {
        let bytes = bytes();
        let (right, _) = example();
        let (mut wrong, mut panics) = (0, 0);
        for damaged in damages(&bytes) {
            let read = || Table::read_unchecked(damaged, WIDTH, FINGERPRINT);
            match catch_unwind(AssertUnwindSafe(read)) {
                Ok(Ok(table)) => wrong += u32::from(table != right),
                Ok(Err(_)) => (),
                Err(_) => panics += 1,
            }
        }
        assert!(wrong > 50 && panics > 0, "{wrong} wrong, {panics} panics");
    }

    #[test]
    fn a_whole_file_of_another_experiment_is_foreign() {
        let found = Table::read(bytes(), WIDTH, "fedcba9876543210");
        assert_eq!(found, Err(Unfit::Foreign));
        let found = Table::read(
            bytes(),
            Width {
                answers: 5,
                ..WIDTH
            },
            FINGERPRINT,
        );
        assert!(matches!(found, Err(Unfit::Damaged(_))), "{found:?}");
    }

    #[test]
    fn columns_have_names_types_and_the_parameters_of_the_point() {
        let reader = SerializedFileReader::new(Bytes::from(bytes())).unwrap();
        let schema = reader.metadata().file_metadata().schema_descr();
        let columns: Vec<(&str, Option<&LogicalType>)> = schema
            .columns()
            .iter()
            .map(|column| (column.name(), column.logical_type_ref()))
            .collect();
        let unsigned = [8, 32, 64].map(|bits| LogicalType::integer(bits, false));
        assert_eq!(
            columns,
            [
                ("point", Some(&unsigned[1])),
                ("index", Some(&unsigned[1])),
                ("seed", Some(&unsigned[2])),
                ("utilization", None),
                ("inflate_level0", Some(&LogicalType::String)),
                ("amc-rtb", Some(&unsigned[0])),
                ("index#2", Some(&unsigned[0])),
                ("index:LO:missed", Some(&unsigned[2])),
                ("index:LO:released", Some(&unsigned[2])),
            ]
        );
        let row = reader.get_row_iter(None).unwrap().next().unwrap().unwrap();
        let seed = derived_seed(1, &[3, 0]);
        assert!(seed > i64::MAX.cast_unsigned(), "a seed that tells");
        assert_eq!(
            row.to_string(),
            format!(
                "{{point: 3, index: 0, seed: {seed}, utilization: 0.5, inflate_level0: \"false\", \
                 amc-rtb: 1, index#2: 0, index:LO:missed: 0, index:LO:released: 18446744073709551615}}"
            )
        );
    }
}
