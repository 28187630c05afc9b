// Every symbol that gpuframe resolves in libcuda.so.1, under the exact name that the
// library exports: cuda.h maps cuMemAlloc to cuMemAlloc_v2 and so on, and the names
// without the suffix are older functions with other parameters.
//
// Functions with a stream use the names without _ptds and _ptsz: stream zero is the
// legacy default stream.
//
//   REQUIRED(name, parameters)         in every driver since 450 (CUDA 11.0)
//   OPTIONAL(name, since, parameters)  since that CUDA version, as
//                                      1000 * major + 10 * minor
//
// The newest required symbol is cuDevicePrimaryCtxRelease_v2, of CUDA 11.0.
#ifndef GPUFRAME_LIBCUDA_SYMBOLS_H
#define GPUFRAME_LIBCUDA_SYMBOLS_H

#define LIBCUDA_SYMBOLS(REQUIRED, OPTIONAL) \
    REQUIRED(cuInit, (unsigned flags)) \
    REQUIRED(cuDriverGetVersion, (int *version)) \
    REQUIRED(cuDeviceGetCount, (int *count)) \
    REQUIRED(cuDeviceGet, (CUdevice *device, int ordinal)) \
    REQUIRED(cuDeviceGetName, (char *name, int length, CUdevice device)) \
    REQUIRED(cuDeviceTotalMem_v2, (size_t *bytes, CUdevice device)) \
    REQUIRED(cuDeviceGetAttribute, (int *value, int attribute, CUdevice device)) \
    OPTIONAL(cuDeviceGetUuid, 9020, (CUuuid *uuid, CUdevice device)) \
    OPTIONAL(cuDeviceGetUuid_v2, 11040, (CUuuid *uuid, CUdevice device)) \
    REQUIRED(cuDevicePrimaryCtxRetain, (CUcontext *context, CUdevice device)) \
    REQUIRED(cuDevicePrimaryCtxRelease_v2, (CUdevice device)) \
    REQUIRED(cuCtxGetCurrent, (CUcontext *context)) \
    REQUIRED(cuCtxSetCurrent, (CUcontext context)) \
    REQUIRED(cuCtxSynchronize, (void)) \
    \
    REQUIRED(cuMemGetInfo_v2, (size_t *free, size_t *total)) \
    REQUIRED(cuMemAlloc_v2, (CUdeviceptr *pointer, size_t bytes)) \
    REQUIRED(cuMemFree_v2, (CUdeviceptr pointer)) \
    REQUIRED(cuMemHostAlloc, (void **pointer, size_t bytes, unsigned flags)) \
    REQUIRED(cuMemFreeHost, (void *pointer)) \
    REQUIRED(cuMemHostRegister_v2, (void *pointer, size_t bytes, unsigned flags)) \
    REQUIRED(cuMemHostUnregister, (void *pointer)) \
    REQUIRED(cuMemGetAddressRange_v2, (CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)) \
    REQUIRED(cuPointerGetAttributes, (unsigned count, int *attributes, void **values, CUdeviceptr pointer)) \
    \
    OPTIONAL(cuDeviceGetDefaultMemPool, 11020, (CUmemoryPool *pool, CUdevice device)) \
    OPTIONAL(cuMemAllocFromPoolAsync, 11020, (CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)) \
    OPTIONAL(cuMemFreeAsync, 11020, (CUdeviceptr pointer, CUstream stream)) \
    OPTIONAL(cuMemPoolCreate, 11020, (CUmemoryPool *pool, const CUmemPoolProps *properties)) \
    OPTIONAL(cuMemPoolDestroy, 11020, (CUmemoryPool pool)) \
    OPTIONAL(cuMemPoolTrimTo, 11020, (CUmemoryPool pool, size_t keep)) \
    OPTIONAL(cuMemPoolGetAttribute, 11020, (CUmemoryPool pool, int attribute, void *value)) \
    OPTIONAL(cuMemPoolSetAttribute, 11020, (CUmemoryPool pool, int attribute, void *value)) \
    OPTIONAL(cuMemPoolSetAccess, 11020, (CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)) \
    \
    OPTIONAL(cuMemAddressReserve, 10020, (CUdeviceptr *pointer, size_t bytes, size_t alignment, CUdeviceptr wanted, unsigned long long flags)) \
    OPTIONAL(cuMemAddressFree, 10020, (CUdeviceptr pointer, size_t bytes)) \
    OPTIONAL(cuMemGetAllocationGranularity, 10020, (size_t *bytes, const CUmemAllocationProp *properties, int option)) \
    OPTIONAL(cuMemCreate, 10020, (CUmemGenericAllocationHandle *physical, size_t bytes, const CUmemAllocationProp *properties, unsigned long long flags)) \
    OPTIONAL(cuMemRelease, 10020, (CUmemGenericAllocationHandle physical)) \
    OPTIONAL(cuMemMap, 10020, (CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle physical, unsigned long long flags)) \
    OPTIONAL(cuMemUnmap, 10020, (CUdeviceptr at, size_t bytes)) \
    OPTIONAL(cuMemSetAccess, 10020, (CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access, size_t count)) \
    OPTIONAL(cuMemExportToShareableHandle, 10020, (void *descriptor, CUmemGenericAllocationHandle physical, int type, unsigned long long flags)) \
    OPTIONAL(cuMemImportFromShareableHandle, 10020, (CUmemGenericAllocationHandle *physical, void *descriptor, int type)) \
    \
    OPTIONAL(cuMemAllocManaged, 6000, (CUdeviceptr *pointer, size_t bytes, unsigned flags)) \
    /* cuda.h of CUDA 13 maps this name to cuMemPrefetchAsync_v2 (12.2), which takes a location in \
       place of the device. Every driver exports the first. */ \
    OPTIONAL(cuMemPrefetchAsync, 8000, (CUdeviceptr pointer, size_t bytes, CUdevice to, CUstream stream)) \
    \
    REQUIRED(cuMemcpyHtoD_v2, (CUdeviceptr destination, const void *source, size_t bytes)) \
    REQUIRED(cuMemcpyDtoH_v2, (void *destination, CUdeviceptr source, size_t bytes)) \
    REQUIRED(cuMemcpyDtoD_v2, (CUdeviceptr destination, CUdeviceptr source, size_t bytes)) \
    REQUIRED(cuMemcpyHtoDAsync_v2, (CUdeviceptr destination, const void *source, size_t bytes, CUstream stream)) \
    REQUIRED(cuMemcpyDtoHAsync_v2, (void *destination, CUdeviceptr source, size_t bytes, CUstream stream)) \
    REQUIRED(cuMemcpyDtoDAsync_v2, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream)) \
    REQUIRED(cuMemcpyPeerAsync, (CUdeviceptr destination, CUcontext to, CUdeviceptr source, CUcontext from, size_t bytes, CUstream stream)) \
    REQUIRED(cuMemsetD8_v2, (CUdeviceptr destination, unsigned char value, size_t count)) \
    REQUIRED(cuMemsetD16_v2, (CUdeviceptr destination, unsigned short value, size_t count)) \
    REQUIRED(cuMemsetD32_v2, (CUdeviceptr destination, unsigned value, size_t count)) \
    REQUIRED(cuMemsetD8Async, (CUdeviceptr destination, unsigned char value, size_t count, CUstream stream)) \
    REQUIRED(cuMemsetD16Async, (CUdeviceptr destination, unsigned short value, size_t count, CUstream stream)) \
    REQUIRED(cuMemsetD32Async, (CUdeviceptr destination, unsigned value, size_t count, CUstream stream)) \
    \
    REQUIRED(cuStreamCreate, (CUstream *stream, unsigned flags)) \
    REQUIRED(cuStreamDestroy_v2, (CUstream stream)) \
    REQUIRED(cuStreamSynchronize, (CUstream stream)) \
    REQUIRED(cuStreamQuery, (CUstream stream)) \
    REQUIRED(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned flags)) \
    REQUIRED(cuEventCreate, (CUevent *event, unsigned flags)) \
    REQUIRED(cuEventDestroy_v2, (CUevent event)) \
    REQUIRED(cuEventRecord, (CUevent event, CUstream stream)) \
    REQUIRED(cuEventQuery, (CUevent event)) \
    REQUIRED(cuEventSynchronize, (CUevent event)) \
    /* cuda.h of CUDA 13 maps this name to cuEventElapsedTime_v2 (12.8). Both take the same \
       parameters and every driver exports the first. */ \
    REQUIRED(cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end)) \
    \
    REQUIRED(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned count, int *options, void **values)) \
    REQUIRED(cuModuleUnload, (CUmodule module)) \
    REQUIRED(cuModuleGetFunction, (CUfunction *function, CUmodule module, const char *name)) \
    REQUIRED(cuFuncGetAttribute, (int *value, int attribute, CUfunction function)) \
    REQUIRED(cuFuncSetAttribute, (CUfunction function, int attribute, int value)) \
    OPTIONAL(cuFuncGetParamInfo, 12040, (CUfunction function, size_t index, size_t *offset, size_t *bytes)) \
    REQUIRED(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction function, int threads, size_t shared)) \
    REQUIRED(cuLaunchKernel, (CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared, CUstream stream, void **parameters, void **extra)) \
    \
    REQUIRED(cuLinkCreate_v2, (unsigned count, int *options, void **values, CUlinkState *link)) \
    REQUIRED(cuLinkAddData_v2, (CUlinkState link, int type, void *data, size_t bytes, const char *name, unsigned count, int *options, void **values)) \
    REQUIRED(cuLinkComplete, (CUlinkState link, void **cubin, size_t *bytes)) \
    REQUIRED(cuLinkDestroy, (CUlinkState link)) \
    \
    OPTIONAL(cuCtxRecordEvent, 12050, (CUcontext context, CUevent event)) \
    OPTIONAL(cuStreamGetId, 12000, (CUstream stream, unsigned long long *identity)) \
    OPTIONAL(cuStreamIsCapturing, 10000, (CUstream stream, int *status)) \
    OPTIONAL(cuThreadExchangeStreamCaptureMode, 10010, (int *mode)) \
    OPTIONAL(cuStreamBeginCapture_v2, 10010, (CUstream stream, int mode)) \
    OPTIONAL(cuStreamEndCapture, 10000, (CUstream stream, CUgraph *graph)) \
    OPTIONAL(cuGraphDestroy, 10000, (CUgraph graph)) \
    OPTIONAL(cuGraphInstantiateWithFlags, 11040, (CUgraphExec *executable, CUgraph graph, unsigned long long flags)) \
    OPTIONAL(cuGraphLaunch, 10000, (CUgraphExec executable, CUstream stream)) \
    OPTIONAL(cuGraphExecDestroy, 10000, (CUgraphExec executable)) \
    \
    REQUIRED(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer)) \
    REQUIRED(cuCtxEnablePeerAccess, (CUcontext peer, unsigned flags)) \
    REQUIRED(cuCtxDisablePeerAccess, (CUcontext peer))

#endif
