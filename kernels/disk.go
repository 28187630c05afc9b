package kernels

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/driver/devicecode"
)

// CacheVariable names the environment variable for the directory of compiled code.
// LoadOptions.CacheDirectory takes precedence. Every load reads it, so it also applies
// to the code that gpuframe's operators load.
const CacheVariable = "GPUFRAME_KERNEL_CACHE"

// digest identifies code. The text of a kernel contains users' expressions, so the hash
// must resist deliberate collisions.
type digest [sha256.Size]byte

func digestOf(data ...[]byte) (d digest) {
	hash := sha256.New()
	for _, part := range data {
		hash.Write(part)
	}
	hash.Sum(d[:0])
	return d
}

// diskCache is a directory of compiled code. Each file is one cubin, named after its
// source and its target.
type diskCache struct {
	directory string
	name      string
	// sum goes into the file's checksum, so that a file under another name is foreign.
	sum digest
}

// newDiskCache returns the file for a code on a device. It returns false if no
// directory is set or the code is not text.
func newDiskCache(dev *device.Device, code []byte, directory string) (diskCache, bool) {
	if directory == "" {
		directory = os.Getenv(CacheVariable)
	}
	if directory == "" || !devicecode.IsText(code) {
		return diskCache{}, false
	}
	info := dev.Info()
	text := digestOf(bytes.TrimSuffix(code, []byte{0}))
	name := fmt.Sprintf("%x-sm%d%d-cuda%d.cubin", text, info.ComputeCapability.Major, info.ComputeCapability.Minor, info.DriverVersion)
	return diskCache{directory: directory, name: name, sum: digestOf([]byte(name), text[:])}, true
}

// load loads the code through the cache. It returns failures of the cache separately
// from failures of the code.
func (c diskCache) load(driver backend.Device, code []byte) (handle backend.Module, cacheFailure, err error) {
	cubin, cacheFailure := c.read()
	if cubin != nil {
		handle, err = driver.ModuleLoad(cubin)
		if err == nil || !errors.Is(err, backend.ErrInvalidCode) {
			return handle, cacheFailure, err
		}
		// The driver cannot load the cached cubin: compile again and overwrite it.
	}
	cubin, err = driver.ModuleCompile(code)
	switch {
	case errors.Is(err, backend.ErrInvalidCode):
		return 0, cacheFailure, err
	case err == nil:
		if handle, err = driver.ModuleLoad(cubin); err == nil {
			return handle, errors.Join(cacheFailure, c.write(cubin)), nil
		}
	}
	// The driver may support loading PTX directly even if compiling and loading
	// separately fails.
	cacheFailure = errors.Join(cacheFailure, fmt.Errorf("kernels: compile for the cache: %w", err))
	handle, err = driver.ModuleLoad(code)
	return handle, cacheFailure, err
}

// A file begins with a mark and a checksum. The last digit is the format's version.
const fileMark = "gpuframe cubin 3"

// read returns the cubin, or nil if the file does not exist or is damaged.
func (c diskCache) read() ([]byte, error) {
	contents, err := os.ReadFile(filepath.Join(c.directory, c.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("kernels: read the cache: %w", err)
	}
	rest, marked := bytes.CutPrefix(contents, []byte(fileMark))
	if !marked || len(rest) < len(digest{}) {
		return nil, nil
	}
	checksum, cubin := rest[:len(digest{})], rest[len(digest{}):]
	if expected := c.checksum(cubin); !bytes.Equal(checksum, expected[:]) {
		return nil, nil
	}
	return cubin, nil
}

func (c diskCache) checksum(cubin []byte) digest {
	return digestOf(c.sum[:], cubin)
}

// write replaces the file atomically, because other processes may read or write it.
func (c diskCache) write(cubin []byte) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("kernels: write the cache: %w", err)
		}
	}()
	if err := os.MkdirAll(c.directory, 0o700); err != nil {
		return err
	}
	file, err := os.CreateTemp(c.directory, c.name+".*.part")
	if err != nil {
		return err
	}
	checksum := c.checksum(cubin)
	_, err = file.Write(append(append([]byte(fileMark), checksum[:]...), cubin...))
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), filepath.Join(c.directory, c.name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return nil
}
