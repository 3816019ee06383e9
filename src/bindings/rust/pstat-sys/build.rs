// SPDX-License-Identifier: MIT
//! Asks pkg-config where libpstat is. Without an answer the linker looks where it always does.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(told) = Command::new("pkg-config").args(["--libs-only-L", "pstat"]).output() {
        for folder in String::from_utf8_lossy(&told.stdout).split_whitespace() {
            println!("cargo:rustc-link-search=native={}", folder.trim_start_matches("-L"));
        }
    }
}
