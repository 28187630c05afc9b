package lint

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/opencontainers/go-digest"
)

// Dockerfile checks the text of a Dockerfile as `docker build --check` does: it converts all stages and applies the rules
// of BuildKit. Images of others are taken for empty ones. An image without a tag is a fault: it may be a stage with a wrong name.
func Dockerfile(ctx context.Context, text []byte) error {
	source := llb.NewSourceMap(nil, "Dockerfile", "Dockerfile", text)
	source.Definition = &llb.Definition{} // the text is no file of a build
	options := dockerfile2llb.ConvertOpt{MetaResolver: emptyImages{}, SourceMap: source}
	results, err := dockerfile2llb.DockerfileLint(ctx, text, options)
	if err != nil {
		return err
	}
	var faults []error
	if results.Error != nil {
		faults = append(faults, errors.New(results.Error.Message))
	}
	for _, warning := range results.Warnings {
		line := int32(0)
		if ranges := warning.Location.GetRanges(); len(ranges) > 0 {
			line = ranges[0].GetStart().GetLine()
		}
		faults = append(faults, fmt.Errorf("line %d: %s: %s", line, warning.RuleName, warning.Detail))
	}
	return errors.Join(faults...)
}

// emptyImages gives each image a configuration without variables, users and commands.
type emptyImages struct{}

func (emptyImages) ResolveImageConfig(_ context.Context, reference string, _ sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	if strings.HasSuffix(reference, ":latest") {
		return "", "", nil, fmt.Errorf("the image %s is no stage and has no tag", reference)
	}
	configuration := []byte(`{"architecture": "amd64", "os": "linux", "rootfs": {"type": "layers"}}`)
	return reference, digest.FromBytes(configuration), configuration, nil
}
