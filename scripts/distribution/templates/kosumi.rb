class Kosumi < Formula
  desc "@SUMMARY@"
  homepage "@HOME@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    url "@DOWNLOAD@/kosumi-@VERSION@-universal-apple-darwin.tar.gz"
    sha256 "@SHA256_universal_apple_darwin@"
  end

  on_linux do
    on_intel do
      url "@DOWNLOAD@/kosumi-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_x86_64_unknown_linux_musl@"
    end
    on_arm do
      url "@DOWNLOAD@/kosumi-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@SHA256_aarch64_unknown_linux_musl@"
    end
  end

  def install
    bin.install "kosumi"
    man1.install "man/kosumi.1"
    bash_completion.install "completions/kosumi.bash" => "kosumi"
    zsh_completion.install "completions/_kosumi"
    fish_completion.install "completions/kosumi.fish"
    doc.install "README.md", "CHANGELOG.md", "THIRD-PARTY.txt"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/kosumi version")
    assert_match "= Kosumi", pipe_output("#{bin}/kosumi gtp --no-model --memory 8", "name\nquit\n")
  end
end
