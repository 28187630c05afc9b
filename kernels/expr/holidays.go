package expr

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels"
)

const (
	// mostHolidays limits the holidays of one function.
	mostHolidays = 20_000
	// mostInRank is the number of holidays of which an expression fuses: those that one
	// literal holds.
	mostInRank = 2 * mostInTable
	// mostDayNumber is beyond the last day of date32 and below what a table is filled up with.
	mostDayNumber = 2_000_000_000
)

// holidays are days from Monday to Friday that are no business days: their numbers among the
// days from Monday to Friday, as businessDays counts them, each once and in ascending order.
type holidays []int32

// holidaysOf returns the days of times in their locations. It leaves out Saturdays and Sundays.
func holidaysOf(days []time.Time) holidays {
	var list holidays
	for _, at := range days {
		year, month, day := at.Date()
		number := (time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() - firstMonday.Unix()) / 86_400
		week := floorQuotient(number, 7)
		if number -= 7 * week; number < 5 && week > math.MinInt32/5 && week < mostDayNumber/5 {
			list = append(list, int32(5*week+number))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// upTo is the number of holidays that are not after a day with a number.
func (h holidays) upTo(number Expr) Expr { return h.rank(number, 0) }

// among is the number of holidays before the day that is business day n, from 0: the number of
// the day is n more. Before holiday i with the number h are h - i business days.
func (h holidays) among(n Expr) Expr { return h.rank(n, 1) }

// rank is the number of holidays i for which number - slope · i is at most e.
func (h holidays) rank(e Expr, slope int64) Expr {
	r := ranks{numbers: h, slope: slope}
	e = Min(e, Lit(int64(mostDayNumber)))
	if len(h) > mostInRank && len(h) <= mostHolidays {
		return Apply(r, e)
	}
	ranked := make1(exprtree.TableRank, e)
	ranked.node.value = r
	return ranked
}

// ranks are the numbers of holidays among which an expression looks for values. As an operator
// it looks in one part of the table after the other.
type ranks struct {
	numbers holidays
	slope   int64
}

// part is the ranks of some of the numbers.
func (r ranks) part(begin, end int) ranks {
	days := slices.Clone(r.numbers[begin:end])
	for i := range days {
		days[i] -= int32(r.slope) * int32(begin)
	}
	return ranks{numbers: days, slope: r.slope}
}

// packed is the literal of exprtree.TableRank: the numbers, filled up with the greatest one.
func (r ranks) packed() string {
	size := 2
	for size < len(r.numbers) {
		size *= 2
	}
	var table strings.Builder
	for i := range size {
		number := int32(math.MaxInt32)
		if i < len(r.numbers) {
			number = r.numbers[i]
		}
		_, _ = table.Write(binary.LittleEndian.AppendUint32(nil, uint32(number)))
	}
	return table.String()
}

// tableRank binds exprtree.TableRank. Equal tables are one literal.
func (b *binder) tableRank(r ranks, operand operand) (*exprtree.Node, error) {
	if len(r.numbers) > mostHolidays {
		return nil, fmt.Errorf("%d holidays, expected at most %d: %w", len(r.numbers), mostHolidays, ErrLiteral)
	}
	x, err := b.as(operand, int64Type)
	if err != nil {
		return nil, err
	}
	packed := r.packed()
	if b.tables[packed] == nil {
		b.tables[packed] = binaryLiteral(packed)
	}
	return b.constant(exprtree.TableRank, r.slope, int64Type, x, b.tables[packed]), nil
}

// Name implements Operator.
func (r ranks) Name() string { return exprtree.TableRank.String() }

// Result implements Operator.
func (r ranks) Result(operands []arrow.DataType) (arrow.DataType, error) {
	if !arrow.TypeEqual(operands[0], int64Type) {
		return nil, fmt.Errorf("%v is no number of a day: %w", operands[0], ErrType)
	}
	return int64Type, nil
}

// Run implements Operator.
func (r ranks) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (sums *column.Column, err error) {
	const days, before = "days", "before"
	fields := []arrow.Field{{Name: days, Type: int64Type, Nullable: true}, {Name: before, Type: int64Type, Nullable: true}}
	rows := buffer.Rows{Count: int64(operands[0].Len()), Shared: operands[0].RowCount(), Manager: operands[0].Manager()}
	for begin := 0; begin < len(r.numbers); begin += mostInRank {
		part := r.part(begin, min(begin+mostInRank, len(r.numbers)))
		rank := holidays(part.numbers).rank(Col(days), part.slope)
		columns := []*column.Column{operands[0]}
		if begin > 0 {
			rank, columns = rank.Add(Col(before)), append(columns, sums)
		}
		table, err := buffer.New(arrow.NewSchema(fields[:len(columns)], nil), columns, rows)
		if begin > 0 {
			err = errors.Join(err, sums.Release())
		}
		if err != nil {
			return nil, errors.Join(err, table.Release())
		}
		next, err := Evaluate(ctx, table, []Expr{rank}, options)
		if err = errors.Join(err, table.Release()); err != nil {
			return nil, errors.Join(err, release.All(next))
		}
		sums = next[0]
	}
	return sums, nil
}

// isWeekday is whether a day is one from Monday to Friday.
func (e Expr) isWeekday() Expr { return e.Weekday().Lt(Lit(5)) }

// workdays is the number of business days before a day, as businessDays, without holidays.
func (e Expr) workdays(h holidays) Expr {
	number := e.businessDays()
	if len(h) == 0 {
		return number
	}
	return number.Sub(h.upTo(number.Sub(Lit(1))))
}

// IsBusinessDay is whether e, a date or timestamp, is a day from Monday to Friday and no
// holiday: see [Expr.AddBusinessDays].
func (e Expr) IsBusinessDay(holidays ...time.Time) Expr {
	h := holidaysOf(holidays)
	if len(h) == 0 {
		return e.isWeekday()
	}
	number := e.businessDays()
	return e.isWeekday().And(h.upTo(number).Eq(h.upTo(number.Sub(Lit(1)))))
}

// mostBusinessDays limits the days of AddBusinessDays. No type holds a time that is moved by
// more days, and no sum of smaller numbers exceeds 64 bits.
const mostBusinessDays = int64(1) << 53

// amongHolidays is AddBusinessDays with holidays.
func (e Expr) amongHolidays(days Expr, h holidays) Expr {
	number, later := e.businessDays(), days.Gt(Lit(0))
	// The number of the day, or of the next Monday on weekends; behind the day if it moves forward.
	from := number.Add(If(later.And(e.isWeekday()), Lit(int64(1)), Lit(int64(0))))
	place := from.Sub(h.upTo(from.Sub(Lit(1)))).Add(days).Sub(If(later, Lit(int64(1)), Lit(int64(0))))
	place = place.Add(h.among(place))
	rest := place.Mod(Lit(5)).Add(Lit(5)).Mod(Lit(5))
	monday := LitOf(arrow.FixedWidthTypes.Date32, firstMonday)
	return place.Sub(rest).Div(Lit(5)).Mul(Lit(7)).Add(rest).Sub(e.DaysSince(monday))
}
