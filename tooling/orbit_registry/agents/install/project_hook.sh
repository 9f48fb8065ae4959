#!/bin/sh
# Shows a coding agent the records that apply to what it does; silent where orbit-registry is not on the PATH.
# Written by `orbit hook install --scope project`, the same for everybody; commit it.
tool=$(command -v orbit-registry) || exit 0
{ read -r first && { read -r second || :; }; } < "$tool" || exit 0
python=${first#??}
if [ "$python" = /bin/sh ]; then # so installers write it where Python's path is long or has spaces
  python=${second#"'''exec' "}
  python=${python%' "$0" "$@"'}
  python=${python#[\"\']}
  python=${python%[\"\']}
fi
case $python in
/*/bin/python*)
  # So it starts without a look at site-packages: 1.4 to 1.5 times an empty start of Python, instead of 1.6 to 1.7.
  for launch in "${python%/bin/python*}"/lib/python3*/site-packages/orbit_registry/hook/launch.py; do
    if [ -f "$launch" ]; then
      "$python" -I -S -E "$launch" "$@"
      exit 0
    fi
  done
  "$python" -I -c 'import sys; from orbit_registry.hook.client import main; main(sys.argv[1:])' "$@" ;;
esac
exit 0
