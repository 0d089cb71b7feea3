#!/bin/sh
# Make this image's virtual environments, in one layer: files of equal wheels are links to one another, and a link
# does not reach from one layer into another. Beside it lie `venvs`, a line each of NAME, PYTHON and HOW, and the
# lock files NAME.txt, with NAME.build.txt where something is built from source. $1 is a Python that runs uv.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=@VENVS@
tools=$(mktemp -d)
trap 'rm -rf "$tools" "$root/.cache"' EXIT
mkdir -p "$root"

export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
export UV_CACHE_DIR="$root/.cache" UV_LINK_MODE=hardlink UV_NO_CONFIG=1 UV_PYTHON_INSTALL_DIR=@INTERPRETERS@

"$1" -m venv "$tools/uv"
"$tools/uv/bin/pip" install --quiet --no-cache-dir 'uv==@UV@'
uv=$tools/uv/bin/uv

while read -r name python how; do
    echo "$name: $python" >&2
    constraints=
    [ ! -e "$here/$name.build.txt" ] || constraints="$here/$name.build.txt"
    case $how in
        uv)
            "$uv" venv --quiet --no-project --python "$python" "$root/$name"
            "$uv" pip install --quiet --no-deps --python "$root/$name/bin/python" \
                ${constraints:+--build-constraints "$constraints"} --requirements "$here/$name.txt"
            ;;
        # uv does not know interpreters as old as this one
        pip)
            "$python" -m venv "$root/$name" || "$python" -m virtualenv --quiet "$root/$name"
            PIP_CONSTRAINT=$constraints "$root/$name/bin/pip" install --quiet --no-cache-dir --no-deps --no-compile \
                --requirement "$here/$name.txt"
            ;;
    esac
done <"$here/venvs"
