package lint

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	helmlint "helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
)

// Render returns the manifests of a chart as `helm template NAME FOLDER` prints them. Values take the place of the
// chart's own as those of --values do. Without values of the caller, a template must name only values that the chart has.
func Render(ctx context.Context, folder, name string, values map[string]any) ([]byte, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read chart: %w", err)
	}
	release := common.ReleaseOptions{Name: name, Namespace: "default", Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(chart, values, release, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("values: %w", err)
	}
	files, err := engine.Engine{Strict: values == nil}.RenderWithContext(ctx, chart, all)
	if err != nil {
		return nil, err
	}
	var text strings.Builder
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(file) == ".yaml" {
			fmt.Fprintf(&text, "---\n%s\n", files[file])
		}
	}
	return []byte(text.String()), nil
}

// Chart checks a chart as `helm lint --strict` does, and its manifests with these values as [Manifests] does.
func Chart(ctx context.Context, folder string, values map[string]any) error {
	var faults []error
	for _, message := range helmlint.RunAll(folder, values, "default").Messages {
		if message.Severity >= support.WarningSev {
			faults = append(faults, message)
		}
	}
	text, err := Render(ctx, folder, "gpuframe-serve", values)
	if err != nil {
		return errors.Join(append(faults, err)...)
	}
	return errors.Join(append(faults, Manifests(text))...)
}
