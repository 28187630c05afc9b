package gpuframe

import (
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/timezone"
)

// LocalTime is what a clock in a time zone shows at a timestamp, as a timestamp without a
// zone: sold.LocalTime("Europe/Oslo").Hour() is the hour there. A timestamp without a zone
// is in UTC. Zones have the names of time.LoadLocation.
func (e Expr) LocalTime(zone string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return timezone.Local(value, zone) })
}

// InstantIn is the time at which a clock in a time zone shows e, a timestamp without a zone.
// At times that a clock shows twice, or leaves out, it is the one that time.Date returns.
func (e Expr) InstantIn(zone string) Expr {
	return unary(e, func(value expr.Expr) expr.Expr { return timezone.Instant(value, zone) })
}
