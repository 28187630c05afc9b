package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/internal/mark"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/host"
)

// settings are the flags of the program.
type settings struct {
	devices    []string
	rows       int64
	rounds     int
	only       string
	explain    bool
	operations int
	profile    bool
}

func main() {
	var s settings
	names := flag.String("device", "", "devices, separated by commas; empty for three devices of the host")
	flag.Int64Var(&s.rows, "rows", 1_000_000, "rows of the large table; the other one of the join has a tenth")
	flag.IntVar(&s.rounds, "rounds", 5, "times that a question runs after the first; the fastest is printed")
	flag.StringVar(&s.only, "only", "", "the beginning of the questions' names, for example groupby or join; empty for all")
	flag.BoolVar(&s.explain, "explain", false, "print the plans on several devices")
	flag.IntVar(&s.operations, "operations", 0, "print this number of operations of each question on several devices, those that take the most time")
	flag.BoolVar(&s.profile, "profile", false, "run each question on several devices once more, with GPUFRAME_PROFILE_MARK set for bench/profile")
	flag.Parse()
	if err := s.run(context.Background(), *names); err != nil {
		log.Fatal(err)
	}
}

func (s *settings) run(ctx context.Context, names string) error {
	if names == "" {
		names = "hosts:0,hosts:1,hosts:2"
		if err := device.Register("hosts", host.Driver{Count: 3}); err != nil {
			return err
		}
	}
	if s.devices = strings.Split(names, ","); len(s.devices) < 2 {
		return fmt.Errorf("the devices are %q, expected two or more", names)
	}
	if s.rows < 1 || s.rows >= 1<<32 || s.rounds < 1 {
		return fmt.Errorf("%d rows, %d rounds, expected 1 to 2³²-1 and one or more", s.rows, s.rounds)
	}
	single, err := s.measure(ctx, s.devices[:1])
	if err != nil {
		return fmt.Errorf("on one device: %w", err)
	}
	defer release(single)
	spread, err := s.measure(ctx, s.devices)
	if err != nil {
		return fmt.Errorf("on several devices: %w", err)
	}
	defer release(spread)
	fmt.Printf("%-40s %12s %12s %8s\n", "", "one, ms", fmt.Sprintf("%d, ms", len(s.devices)), "ratio")
	for i, a := range single {
		b := spread[i]
		fmt.Printf("%-40s %12.3f %12.3f %8.2f\n", a.name, milliseconds(a.best), milliseconds(b.best), float64(a.best)/float64(b.best))
		if !array.RecordEqual(a.answer, b.answer) {
			err = errors.Join(err, fmt.Errorf("%s: the answers of one device and of several differ", a.name))
		}
	}
	return err
}

// measurement is the fastest time of a question and what is compared of its result.
type measurement struct {
	name   string
	best   time.Duration
	answer arrow.Record
}

func release(list []measurement) {
	for _, m := range list {
		m.answer.Release()
	}
}

// measure answers the questions with tables that are divided among devices.
func (s *settings) measure(ctx context.Context, names []string) (list []measurement, err error) {
	engine, err := gpuframe.Open(gpuframe.Devices(names...))
	if err != nil {
		return nil, err
	}
	t := &tables{engine: engine}
	defer func() {
		if err = errors.Join(err, t.release(), engine.Close()); err != nil {
			release(list)
			list = nil
		}
	}()
	began := time.Now()
	large, err := t.table(ctx, fact(s.rows), s.rows)
	if err != nil {
		return nil, err
	}
	other, err := t.table(ctx, dimension(small(s.rows)), small(s.rows))
	if err != nil {
		return nil, err
	}
	fmt.Printf("# %s: %s rows and %s, loaded in %.1f s\n", strings.Join(names, ", "), humanize.Comma(s.rows), humanize.Comma(small(s.rows)), time.Since(began).Seconds())
	for _, q := range questions() {
		if !strings.HasPrefix(q.name, s.only) {
			continue
		}
		m, err := s.answer(ctx, engine, q, q.query(large, other), len(names) > 1)
		if err != nil {
			return list, fmt.Errorf("%s: %w", q.name, err)
		}
		list = append(list, m)
	}
	return list, nil
}

// answer runs a question some times.
func (s *settings) answer(ctx context.Context, engine *gpuframe.Engine, q question, query gpuframe.Query, details bool) (m measurement, err error) {
	m = measurement{name: q.name, best: 1 << 62}
	once := func(options ...gpuframe.RunOption) (*gpuframe.Frame, time.Duration, error) {
		began := time.Now()
		frame, err := query.Collect(ctx, options...)
		if err != nil {
			return nil, 0, err
		}
		err = engine.Manager().Stream().Synchronize(ctx)
		return frame, time.Since(began), err
	}
	for i := range s.rounds + 1 {
		frame, took, err := once()
		if err != nil {
			return m, err
		}
		if i > 0 {
			m.best = min(m.best, took)
		}
		if i == s.rounds {
			m.answer, err = compared(ctx, q.check(frame.Query()))
		}
		if err = errors.Join(err, frame.Release()); err != nil {
			return m, err
		}
	}
	if details {
		if err := s.details(ctx, engine, q, query, once); err != nil {
			m.answer.Release()
			return m, err
		}
	}
	return m, nil
}

func compared(ctx context.Context, query gpuframe.Query) (arrow.Record, error) {
	frame, err := query.Collect(ctx)
	if err != nil {
		return nil, err
	}
	record, err := frame.Record(ctx)
	return record, errors.Join(err, frame.Release())
}

// details prints the plan and the operations of a question, if that was asked for.
func (s *settings) details(ctx context.Context, engine *gpuframe.Engine, q question, query gpuframe.Query, once func(...gpuframe.RunOption) (*gpuframe.Frame, time.Duration, error)) error {
	if s.explain {
		text, err := query.Explain(ctx)
		if err != nil {
			return err
		}
		fmt.Printf("# %s\n%s\n", q.name, text)
	}
	if s.profile {
		err := mark.Run(ctx, q.name, engine.Manager().Stream(), func() error {
			frame, _, err := once()
			if err != nil {
				return err
			}
			return frame.Release()
		})
		if err != nil {
			return err
		}
	}
	if s.operations == 0 {
		return nil
	}
	var p gpuframe.Profile
	frame, took, err := once(gpuframe.Profiled(&p))
	if err != nil {
		return err
	}
	list := p.Operations()
	slices.SortStableFunc(list, func(a, b gpuframe.OperationProfile) int { return cmp.Compare(b.Time, a.Time) })
	fmt.Printf("# %s: %.3f ms with a profile\n", q.name, milliseconds(took))
	for _, o := range list[:min(len(list), s.operations)] {
		fmt.Printf("%10.3f ms %14s rows %10s  %s\n", milliseconds(o.Time), humanize.Comma(o.Rows), humanize.IBytes(o.Bytes), o.Name)
	}
	return frame.Release()
}

func milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
