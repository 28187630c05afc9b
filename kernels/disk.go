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
	"github.com/gpuframe/gpuframe/internal/devicecode"
)

// CacheVariable names the environment variable for the directory of compiled code
// that LoadOptions.CacheDirectory stands before. It is read by every load, so it also
// speaks for the operators of gpuframe, which load code of their own.
const CacheVariable = "GPUFRAME_KERNEL_CACHE"

// digest identifies code. The text of a kernel holds what users wrote in their
// expressions, so two texts must not share a digest on purpose either.
type digest [sha256.Size]byte

func digestOf(data ...[]byte) (d digest) {
	hash := sha256.New()
	for _, part := range data {
		hash.Write(part)
	}
	hash.Sum(d[:0])
	return d
}

// diskCache is a directory of compiled code. Each file is one cubin, named after what
// it was compiled from and for.
type diskCache struct {
	directory string
	name      string
	// sum goes into the file's checksum, so that a file under another name is foreign.
	sum digest
}

// newDiskCache returns the cache's place for a code on a device, or false where
// nothing is to be kept.
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

// load loads the code by way of the cache. What is wrong with the cache comes apart
// from what is wrong with the code.
func (c diskCache) load(driver backend.Device, code []byte) (handle backend.Module, cacheFailure, err error) {
	cubin, cacheFailure := c.read()
	if cubin != nil {
		handle, err = driver.ModuleLoad(cubin)
		if err == nil || !errors.Is(err, backend.ErrInvalidCode) {
			return handle, cacheFailure, err
		}
		// Not this driver's: it is compiled anew and rewritten.
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
	// The driver may still do in one what it does not do in two.
	cacheFailure = errors.Join(cacheFailure, fmt.Errorf("kernels: compile for the cache: %w", err))
	handle, err = driver.ModuleLoad(code)
	return handle, cacheFailure, err
}

// A file begins with a mark and a checksum. The last digit is the format's version.
const fileMark = "gpuframe cubin 3"

// read returns the cubin, or nil where there is none that is whole.
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

// write puts the file in its place as a whole, whoever else writes or reads it.
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
