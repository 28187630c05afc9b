package learn

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// Transformer is a fitted value: [Labels], [OneHot], [TargetMeans], [Scaling], [Imputation] or [Bins].
type Transformer interface {
	Apply(q gpuframe.Query) gpuframe.Query
}

// Request describes a fit by names, for programs that get it as data.
type Request struct {
	// Kind is labels, one_hot, target_means, standardization, min_max, mean, median, mode, uniform_bins or quantile_bins.
	Kind       string          `json:"kind"`
	Columns    []string        `json:"columns"`
	Categories CategoryOptions `json:"categories"`
	// Target is the column of target_means.
	Target  string        `json:"target"`
	Targets TargetOptions `json:"targets"`
	// Bins is the number of bins.
	Bins int `json:"bins"`
}

// fits are the functions of each kind.
var fits = map[string]func(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error){
	"labels": func(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error) {
		return FitLabels(ctx, q, r.Categories, r.Columns...)
	},
	"one_hot": func(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error) {
		return FitOneHot(ctx, q, r.Categories, r.Columns...)
	},
	"target_means": func(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error) {
		return FitTargetMeans(ctx, q, r.Target, r.Targets, r.Columns...)
	},
	"standardization": ofColumns(FitStandardization), "min_max": ofColumns(FitMinMax),
	"mean": ofColumns(FitMean), "median": ofColumns(FitMedian), "mode": ofColumns(FitMode),
	"uniform_bins": ofBins(FitUniformBins), "quantile_bins": ofBins(FitQuantileBins),
}

func ofColumns[T Transformer](fit func(ctx context.Context, q gpuframe.Query, columns ...string) (T, error)) func(context.Context, gpuframe.Query, Request) (Transformer, error) {
	return func(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error) {
		return fit(ctx, q, r.Columns...)
	}
}

func ofBins(fit func(ctx context.Context, q gpuframe.Query, n int, columns ...string) (Bins, error)) func(context.Context, gpuframe.Query, Request) (Transformer, error) {
	return func(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error) {
		return fit(ctx, q, r.Bins, r.Columns...)
	}
}

// Fit does the fit of a request.
func Fit(ctx context.Context, q gpuframe.Query, r Request) (Transformer, error) {
	fit, ok := fits[r.Kind]
	if !ok {
		return nil, unknownKind(r.Kind, slices.Sorted(maps.Keys(fits)))
	}
	return fit(ctx, q, r)
}

// decoders read the fitted values.
var decoders = map[string]func(text []byte) (Transformer, error){
	"labels": decoded[Labels], "one_hot": decoded[OneHot], "target_means": decoded[TargetMeans], "scaling": decoded[Scaling],
	"imputation": decoded[Imputation], "bins": decoded[Bins],
}

// decoded reads a value with a list of columns or categories, and refuses members of other kinds.
func decoded[T Transformer](text []byte) (Transformer, error) {
	var value T
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("learn: no fitted value of this kind: %w: %w", err, ErrOption)
	}
	var lists struct{ Columns, Categories json.RawMessage }
	if err := json.Unmarshal(text, &lists); err != nil {
		return nil, fmt.Errorf("learn: behind the fitted value: %w: %w", err, ErrOption)
	}
	if lists.Columns == nil && lists.Categories == nil {
		return nil, fmt.Errorf("learn: the fitted value has neither columns nor categories: %w", ErrOption)
	}
	return value, nil
}

// Decode reads the JSON of a fitted value, and refuses that of another kind by its members. The kind is labels, one_hot, target_means, scaling, imputation or bins.
func Decode(kind string, text []byte) (Transformer, error) {
	decode, ok := decoders[kind]
	if !ok {
		return nil, unknownKind(kind, slices.Sorted(maps.Keys(decoders)))
	}
	return decode(text)
}

func unknownKind(kind string, known []string) error {
	return fmt.Errorf("learn: kind %q, expected %s: %w", kind, strings.Join(known, ", "), ErrOption)
}
