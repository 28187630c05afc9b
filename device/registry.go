package device

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
	"github.com/gpuframe/gpuframe/device/host"
)

// registry holds the backends by name. The built-in ones are present from the start, so
// no package must be imported for its side effects.
var registry = struct {
	sync.RWMutex
	drivers map[string]backend.Driver
}{drivers: map[string]backend.Driver{
	"cuda": cuda.Driver{},
	"host": host.Driver{},
}}

// Register adds a backend under a name for Open and List. It returns an error if the
// name is empty, contains a colon, or is taken.
func Register(name string, driver backend.Driver) error {
	if name == "" || strings.Contains(name, ":") {
		return fmt.Errorf("device: register %q: the name of a backend must not be empty or contain a colon: %w", name, ErrInvalidValue)
	}
	if driver == nil {
		return fmt.Errorf("device: register %q: the driver is nil: %w", name, ErrInvalidValue)
	}
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.drivers[name]; taken {
		return fmt.Errorf("device: register %q: the name is taken: %w", name, ErrInvalidValue)
	}
	registry.drivers[name] = driver
	return nil
}

// Backends returns the names of the registered backends in order.
func Backends() []string {
	registry.RLock()
	defer registry.RUnlock()
	names := make([]string, 0, len(registry.drivers))
	for name := range registry.drivers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func lookup(name string) (backend.Driver, bool) {
	registry.RLock()
	defer registry.RUnlock()
	driver, ok := registry.drivers[name]
	return driver, ok
}

// Open opens a device. The name is a backend and a number, such as "cuda:1". Without a
// number it is the backend's first device. The empty name is the first GPU, or the host
// if this process can use no GPU. A faulty GPU is an error: Open does not fall back to
// the host silently.
//
// # Ownership
//
// The caller closes the device after everything made from it.
func Open(name string) (*Device, error) {
	if name != "" {
		return open(name)
	}
	infos, err := cuda.Driver{}.Devices()
	switch {
	case err == nil && len(infos) > 0:
		return open("cuda:0")
	case err == nil, errors.Is(err, ErrNotAvailable), errors.Is(err, ErrNoDevice):
		return open("host")
	}
	return nil, fmt.Errorf("device: open the first GPU: %w", err)
}

func open(name string) (*Device, error) {
	family, ordinal, err := parseName(name)
	if err != nil {
		return nil, err
	}
	driver, ok := lookup(family)
	if !ok {
		return nil, fmt.Errorf("device: open %q: no backend is called %q, there are %s: %w",
			name, family, someOf(Backends()), ErrNoDevice)
	}
	handle, err := driver.Open(ordinal)
	if err != nil {
		return nil, fmt.Errorf("device: open %q: %w", name, err)
	}
	return newDevice(family, handle), nil
}

// someOf joins names for an error message, at most the first few of a long list.
func someOf(names []string) string {
	const most = 16
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

func parseName(name string) (family string, ordinal int, err error) {
	family, number, numbered := strings.Cut(name, ":")
	if !numbered {
		return family, 0, nil
	}
	parsed, err := strconv.ParseUint(number, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("device: open %q: want a backend and a number, such as \"cuda:0\": %w", name, ErrNoDevice)
	}
	return family, int(parsed), nil
}

// Listing describes a device that Open accepts.
type Listing struct {
	// Name is the argument of Open.
	Name string
	Info Info
	// FreeMemory is the memory that no process holds, in bytes.
	FreeMemory uint64
}

// List describes every device of every backend that this process can use. To read a
// GPU's free memory it opens the device briefly, which takes a fraction of a second if
// nothing else in the process has the device open.
//
// # Errors
//
// The error names the devices that failed; List still returns the others.
func List() ([]Listing, error) {
	var listings []Listing
	var failures []error
	for _, family := range Backends() {
		driver, _ := lookup(family)
		infos, err := driver.Devices()
		if errors.Is(err, ErrNotAvailable) || errors.Is(err, ErrNoDevice) {
			continue
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("device: list %s: %w", family, err))
			continue
		}
		for _, info := range infos {
			listing, err := describe(family, driver, info)
			if err != nil {
				failures = append(failures, err)
				continue
			}
			listings = append(listings, listing)
		}
	}
	return listings, errors.Join(failures...)
}

func describe(family string, driver backend.Driver, info Info) (Listing, error) {
	name := deviceName(family, info)
	handle, err := driver.Open(info.Ordinal)
	if err != nil {
		return Listing{}, fmt.Errorf("device: list %s: %w", name, err)
	}
	free, _, err := handle.MemoryInfo()
	if closing := handle.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return Listing{}, fmt.Errorf("device: list %s: %w", name, err)
	}
	return Listing{Name: name, Info: info, FreeMemory: free}, nil
}

func deviceName(family string, info Info) string {
	if info.Kind == Host && info.Ordinal == 0 {
		return family
	}
	return family + ":" + strconv.Itoa(info.Ordinal)
}
