#!/bin/sh
# Stands in for conda: this task has one environment, made by pip; `activate` is a function of the shell.
case ${1-} in
    run)
        shift
        while :; do
            case ${1-} in
                -n | --name | -p | --prefix | --cwd) shift 2 ;;
                -*) shift ;;
                *) break ;;
            esac
        done
        . @PREFIX@/etc/profile.d/conda.sh
        conda activate
        exec "$@"
        ;;
    shell.*) cat @PREFIX@/etc/profile.d/conda.sh ;;
    init | config) ;;
    --version | -V) echo "conda 24.0.0 (stand-in)" ;;
    info | env | list)
        if [ "${1-}" = list ]; then
            exec @VENV@/bin/python -m pip list
        fi
        printf '%-24s %s\n' @NAME@ @VENV@
        ;;
    *)
        echo "conda ${1-}: there is no conda here; this task's environment is @VENV@: use pip" >&2
        exit 1
        ;;
esac
