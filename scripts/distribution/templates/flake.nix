{
  description = "@SUMMARY@";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = build: nixpkgs.lib.genAttrs systems (system: build nixpkgs.legacyPackages.${system});
    in {
      # This file stands at the root of the source tree.
      packages = each (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "kosumi";
          version = "@VERSION@";
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          cargoBuildFlags = [ "--package" "kosumi" ];
          # The tests need browsers, GNU Go and minutes; the scripts of the project run them.
          doCheck = false;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          postInstall = ''
            $out/bin/kosumi man > kosumi.1
            installManPage kosumi.1
            for shell in bash zsh fish; do
              $out/bin/kosumi completions $shell > completions.$shell
              installShellCompletion --cmd kosumi --$shell completions.$shell
            done
          '';
          meta = {
            description = "@SUMMARY@";
            homepage = "@HOME@";
            license = with pkgs.lib.licenses; [ mit asl20 ];
            mainProgram = "kosumi";
          };
        };
      });
    };
}
