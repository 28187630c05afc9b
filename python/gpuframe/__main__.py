"""python -m gpuframe: the devices and their memory in use."""

import gpuframe


def main() -> None:
    print(f"gpuframe {gpuframe.__version__}")
    for name in gpuframe.devices():
        opened = gpuframe.device(name)
        print(f"  {opened.name:8} {opened.description}")
        print(f"           {opened.memory()!r}")


if __name__ == "__main__":
    main()
