//! The numbers of the paper, measured on a machine of 2012: Table II, Table III and what the text says of
//! Fig. 6. Only orders, ratios and shapes can be compared with another machine's.

use super::set::SIZES;
use super::{COLUMNS, FTP_AMC, FTP_SMC, PLRS, PT, ZSS};
use crate::overhead::paper::{PaperCell, PaperInvocation};

const fn cell(busy_us: u64, overhead_milli_percent: u64, switches: u64) -> PaperCell {
    PaperCell {
        busy_us,
        overhead_milli_percent,
        switches,
    }
}

/// Table II, a row for each of [`SIZES`], columns as in [`COLUMNS`]. The labels of its rows are shifted
/// in the print; the last row is that of 32 tasks.
#[rustfmt::skip]
const TABLE_2: [[PaperCell; 5]; 8] = [
    [cell(11154, 0, 2), cell(11212, 515, 11), cell(11161, 57, 3), cell(11203, 433, 7), cell(11210, 495, 7)],
    [cell(14037, 0, 6), cell(14210, 1231, 37), cell(14044, 47, 6), cell(14139, 725, 15), cell(14141, 741, 15)],
    [cell(56963, 0, 28), cell(57809, 1487, 177), cell(56994, 54, 33), cell(57272, 544, 59), cell(57189, 398, 59)],
    [cell(77699, 0, 44), cell(78915, 1565, 294), cell(77719, 25, 52), cell(78138, 564, 91), cell(78185, 626, 91)],
    [cell(89484, 0, 58), cell(91552, 2310, 420), cell(89522, 42, 67), cell(90431, 1058, 123), cell(90496, 1130, 123)],
    [cell(97758, 0, 75), cell(112_596, 15178, 578), cell(97793, 35, 87), cell(98599, 860, 153), cell(98662, 925, 153)],
    [cell(149_124, 0, 156), cell(164_433, 10266, 1470), cell(149_225, 68, 180), cell(155_069, 3987, 331), cell(155_395, 4205, 331)],
    [cell(177_341, 0, 194), cell(199_403, 12441, 1951), cell(178_451, 626, 286), cell(183_478, 3460, 407), cell(183_625, 3544, 405)],
];

/// The cell of Table II for a number of tasks.
#[must_use]
pub(super) fn table_2(size: usize, column: &str) -> Option<PaperCell> {
    let row = SIZES.iter().position(|&known| known == size)?;
    let index = COLUMNS.iter().position(|&known| known == column)?;
    TABLE_2.get(row)?.get(index).copied()
}

/// Table III; FTP-SMC has no manager.
#[must_use]
pub(super) fn table_3(column: &str) -> Option<PaperInvocation> {
    let (mean_cycles, mean_ns, max_ns) = match column {
        FTP_SMC => return None,
        PT => (19_435, 5_750, 121_390),
        ZSS => (6_578, 1_950, 14_750),
        FTP_AMC => (21_326, 6_310, 141_920),
        PLRS => (24_854, 7_350, 124_250),
        _ => return None,
    };
    Some(PaperInvocation {
        mean_cycles,
        mean_ns,
        max_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use vestal_statistics::spearman;

    #[test]
    fn printed_overheads_are_those_of_the_printed_lengths() {
        for row in &TABLE_2 {
            let base = row[0].busy_us as f64;
            for cell in row {
                let computed = (cell.busy_us as f64 / base - 1.0) * 100_000.0;
                let printed = cell.overhead_milli_percent as f64;
                // Both lengths are rounded to a microsecond.
                assert!(
                    (computed - printed).abs() < 100_000.0 / base + 1.0,
                    "{cell:?}: {computed}"
                );
            }
        }
    }

    #[test]
    fn the_papers_overheads_follow_its_switches() {
        for row in &TABLE_2 {
            let overheads: Vec<f64> = row.iter().map(|cell| cell.busy_us as f64).collect();
            let switches: Vec<f64> = row.iter().map(|cell| cell.switches as f64).collect();
            assert!(spearman(&overheads, &switches).unwrap() > 0.8);
        }
    }

    #[test]
    fn cycles_and_times_of_table_3_belong_to_one_clock() {
        for column in COLUMNS.iter().copied() {
            let Some(found) = table_3(column) else {
                continue;
            };
            let gigahertz = found.mean_cycles as f64 / found.mean_ns as f64;
            assert!((3.36..3.40).contains(&gigahertz), "{column} {gigahertz}");
        }
    }
}
