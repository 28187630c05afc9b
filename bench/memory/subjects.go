package main

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/buckets"
)

// subject is a measured way to allocate memory.
type subject struct {
	name string
	// judged is true if the bars apply to this subject.
	judged bool
	// manager puts a manager above the resource; backstop enables its backstop.
	manager, backstop bool
	// make makes the resource and, if primes is true, allocates the initial bytes
	// immediately.
	make func(dev *device.Device, initial uint64) (memory.Resource, error)
	// primes is true if make uses the initial bytes.
	primes bool
}

var subjects = []subject{
	{name: "Manager over CachingResource", manager: true, backstop: true, make: newCaching, primes: true},
	{name: "the same without the backstop", manager: true, judged: true, make: newCaching, primes: true},
	{name: "CachingResource", judged: true, make: newCaching, primes: true},
	{name: "buckets.Resource", make: bucketed},
	{name: "StreamOrderedResource", make: streamOrdered, primes: true},
	{name: "DriverResource", make: driver},
}

func newCaching(dev *device.Device, initial uint64) (memory.Resource, error) {
	return memory.NewCachingResource(dev, memory.CachingOptions{InitialBytes: initial})
}

func streamOrdered(dev *device.Device, initial uint64) (memory.Resource, error) {
	return memory.NewStreamOrderedResource(dev, memory.StreamOrderedOptions{InitialBytes: initial})
}

func bucketed(dev *device.Device, _ uint64) (memory.Resource, error) {
	return buckets.New(memory.NewDriverResource(dev), buckets.Options{})
}

func driver(dev *device.Device, _ uint64) (memory.Resource, error) {
	return memory.NewDriverResource(dev), nil
}

// source is an open subject.
type source struct {
	resource memory.Resource
	manager  *memory.Manager
}

// open opens the subject. The caller closes it.
func (s subject) open(dev *device.Device, initial uint64) (*source, error) {
	resource, err := s.make(dev, initial)
	if err != nil {
		return nil, err
	}
	opened := &source{resource: resource}
	if s.manager {
		opened.manager, err = memory.NewManager(dev, memory.Options{Resource: resource, NoBackstop: !s.backstop})
		if err != nil {
			return nil, errors.Join(err, resource.Close())
		}
	}
	return opened, nil
}

func (s *source) close() error {
	if s.manager != nil {
		if err := s.manager.Close(); err != nil {
			return errors.Join(err, s.resource.Close())
		}
	}
	return s.resource.Close()
}

// with opens the subject for a function.
func (s subject) with(dev *device.Device, initial uint64, f func(*source) error) error {
	opened, err := s.open(dev, initial)
	if err != nil {
		return err
	}
	return errors.Join(f(opened), opened.close())
}

// pairs allocates and frees n times.
func (s *source) pairs(n int, bytes uint64, stream *device.Stream) error {
	if s.manager == nil {
		return resourcePairs(s.resource, n, bytes, stream)
	}
	options := memory.AllocateOptions{Stream: stream, Tag: "bench"}
	for range n {
		block, err := s.manager.Allocate(bytes, options)
		if err != nil {
			return err
		}
		if err := block.Release(); err != nil {
			return err
		}
	}
	return nil
}

func resourcePairs(resource memory.Resource, n int, bytes uint64, stream *device.Stream) error {
	for range n {
		allocation, err := resource.Allocate(bytes, stream)
		if err != nil {
			return err
		}
		if err := resource.Free(allocation, nil); err != nil {
			return err
		}
	}
	return nil
}

// withStreams makes streams for a function.
func withStreams(dev *device.Device, n int, f func([]*device.Stream) error) (err error) {
	streams := make([]*device.Stream, n)
	for i := range streams {
		if streams[i], err = dev.NewStream(); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, streams[i].Close()) }()
	}
	return f(streams)
}
