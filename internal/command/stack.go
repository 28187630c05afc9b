package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
	"github.com/gpuframe/gpuframe/memory/buckets"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// resources are the choices of --resource.
var resources = map[string]func(*device.Device) (memory.Resource, error){
	"caching": func(dev *device.Device) (memory.Resource, error) {
		return memory.NewCachingResource(dev, memory.CachingOptions{})
	},
	"caching-fixed": func(dev *device.Device) (memory.Resource, error) {
		return memory.NewCachingResource(dev, memory.CachingOptions{Segments: memory.FixedSegments})
	},
	"pool": func(dev *device.Device) (memory.Resource, error) {
		return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{})
	},
	"buckets": func(dev *device.Device) (memory.Resource, error) {
		return buckets.New(memory.NewDriverResource(dev), buckets.Options{})
	},
	"driver": func(dev *device.Device) (memory.Resource, error) {
		return memory.NewDriverResource(dev), nil
	},
}

// layers are the adaptors of --stack by name: each wraps the current resource. The
// value is the text after the name's equals sign.
var layers = map[string]func(s *stack, value string) (memory.Resource, error){
	"limit": func(s *stack, value string) (memory.Resource, error) {
		bytes, err := parseSize(value)
		return adaptor.NewLimit(s.top, bytes, adaptor.LimitOptions{}), err
	},
	"statistics": func(s *stack, value string) (memory.Resource, error) {
		return adaptor.NewStatistics(s.top), refuse(value)
	},
	"tracking": func(s *stack, value string) (memory.Resource, error) {
		return adaptor.NewTracking(s.top, adaptor.TrackingOptions{}), refuse(value)
	},
	"logging": func(s *stack, value string) (memory.Resource, error) {
		if value == "" {
			return nil, errors.New("it needs a file, as in logging=out.csv")
		}
		file, err := os.Create(value)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, file)
		return adaptor.NewLogging(s.top, adaptor.LoggingOptions{CSV: file}), nil
	},
	"retry": func(s *stack, value string) (memory.Resource, error) {
		trimmer, ok := s.top.(resource.Trimmer)
		if !ok {
			return nil, errors.New("the resource below it caches no memory that could be freed")
		}
		again := func(uint64, error) bool {
			released, err := trimmer.Trim(0)
			return err == nil && released > 0
		}
		return adaptor.NewRetry(s.top, again, adaptor.RetryOptions{}), refuse(value)
	},
	"poison": func(s *stack, value string) (memory.Resource, error) {
		return adaptor.NewPoison(s.top, adaptor.PoisonOptions{}), refuse(value)
	},
	"guard": func(s *stack, value string) (memory.Resource, error) {
		options := adaptor.GuardOptions{}
		var err error
		if value != "" {
			options.RedZone, err = parseSize(value)
		}
		return adaptor.NewGuard(s.top, options), err
	},
	"aligned": func(s *stack, value string) (memory.Resource, error) {
		alignment, err := parseSize(value)
		if err != nil {
			return nil, err
		}
		return adaptor.NewAligned(s.top, adaptor.AlignedOptions{Alignment: alignment})
	},
	"fault": func(s *stack, value string) (memory.Resource, error) {
		probability, err := strconv.ParseFloat(value, 64)
		if err == nil && !(probability >= 0 && probability <= 1) {
			err = fmt.Errorf("%v is not a probability from 0 to 1", value)
		}
		return adaptor.NewFault(s.top, adaptor.FaultOptions{Allocate: adaptor.FaultRule{Probability: probability}}), err
	},
}

func parseSize(text string) (uint64, error) {
	bytes, err := humanize.ParseBytes(text)
	if err != nil || bytes == 0 {
		return 0, fmt.Errorf("%q is not a size such as 8GiB or 256", text)
	}
	return bytes, nil
}

func refuse(value string) error {
	if value == "" {
		return nil
	}
	return fmt.Errorf("it takes no value, but %q was given", value)
}

// listed lists the keys in order, for messages.
func listed[V any](choices map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(choices)), ", ")
}

// stack is a resource with adaptors on it, and the files they write.
type stack struct {
	top   memory.Resource
	files []*os.File
}

// newStack makes the resource and wraps it in an adaptor for each part of the text: a
// request reaches the last adaptor first. The caller closes it.
func newStack(dev *device.Device, resource, text string) (*stack, error) {
	make, known := resources[resource]
	if !known {
		return nil, fmt.Errorf("--resource %s: there are %s", resource, listed(resources))
	}
	bottom, err := make(dev)
	if err != nil {
		return nil, fmt.Errorf("--resource %s: %w", resource, err)
	}
	s := &stack{top: bottom}
	for _, part := range parts(text) {
		if err := s.push(part); err != nil {
			return nil, errors.Join(fmt.Errorf("--stack, %q: %w", part, err), s.close())
		}
	}
	return s, nil
}

// parts splits the value of --stack.
func parts(text string) (parts []string) {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		parts = append(parts, strings.TrimSpace(part))
	}
	return parts
}

func (s *stack) push(part string) error {
	name, value, _ := strings.Cut(part, "=")
	layer, known := layers[name]
	if !known {
		return fmt.Errorf("there are %s", listed(layers))
	}
	top, err := layer(s, value)
	if err != nil {
		return err
	}
	s.top = top
	return nil
}

// close closes the resources from the top down, then the files.
func (s *stack) close() error {
	failures := []error{s.top.Close()}
	for _, file := range s.files {
		failures = append(failures, file.Close())
	}
	return errors.Join(failures...)
}
