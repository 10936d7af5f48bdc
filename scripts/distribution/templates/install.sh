#!/bin/sh
# Installs Kosumi @VERSION@ for this user: the program goes to ~/.local/bin, or to $KOSUMI_BIN.
# Usage: sh install.sh [ARCHIVE]: a downloaded archive [default: downloads the one for this machine].
set -eu
version=@VERSION@
download=@DOWNLOAD@

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

machine=$(uname -m)
case $(uname -s) in
  Linux)
    case $machine in
      x86_64 | amd64) target=x86_64-unknown-linux-musl sum=@SHA256_x86_64_unknown_linux_musl@ ;;
      aarch64 | arm64) target=aarch64-unknown-linux-musl sum=@SHA256_aarch64_unknown_linux_musl@ ;;
      *) fail "there is no program for the processor $machine" ;;
    esac
    ;;
  Darwin) target=universal-apple-darwin sum=@SHA256_universal_apple_darwin@ ;;
  *) fail "there is no program for the system $(uname -s)" ;;
esac
name=kosumi-$version-$target

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
archive=$folder/$name.tar.gz
if [ $# -gt 0 ]; then
  cp -- "$1" "$archive"
elif command -v curl >/dev/null; then
  curl --proto '=https' --fail --location --silent --show-error --output "$archive" "$download/$name.tar.gz"
elif command -v wget >/dev/null; then
  wget --quiet --output-document="$archive" "$download/$name.tar.gz"
else
  fail "neither curl nor wget is installed"
fi

if command -v sha256sum >/dev/null; then
  found=$(sha256sum "$archive")
else
  found=$(shasum -a 256 "$archive")
fi
[ "${found%% *}" = "$sum" ] || fail "the archive is not the one of this release (SHA-256 ${found%% *})"

tar -xzf "$archive" -C "$folder"
bin=${KOSUMI_BIN:-$HOME/.local/bin}
mkdir -p "$bin"
# A rename replaces a program even while it runs.
cp "$folder/$name/kosumi" "$bin/.kosumi.new"
chmod 755 "$bin/.kosumi.new"
mv "$bin/.kosumi.new" "$bin/kosumi"
"$bin/kosumi" version
echo "installed as $bin/kosumi; play with: $bin/kosumi play"
case :$PATH: in
  *":$bin:"*) ;;
  *) echo "$bin is not in PATH: add it, or use the full path" ;;
esac
