# Installs Kosumi @VERSION@ for this user, in %LOCALAPPDATA%\Programs\Kosumi, and adds that folder to the user's PATH.
# Usage: powershell -ExecutionPolicy Bypass -File install.ps1 [-Archive FILE] [-Associate]
#   -Archive FILE  a downloaded archive (default: downloads it)
#   -Associate     a double click on a game record (.sgf) opens it with `kosumi play`
param([string]$Archive, [switch]$Associate)
$ErrorActionPreference = 'Stop'
$name = 'kosumi-@VERSION@-x86_64-pc-windows-gnu'
$folder = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
New-Item -ItemType Directory -Path $folder | Out-Null
try {
    if (-not $Archive) {
        [Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12
        $Archive = Join-Path $folder "$name.zip"
        Invoke-WebRequest -UseBasicParsing -Uri "@DOWNLOAD@/$name.zip" -OutFile $Archive
    }
    $sum = (Get-FileHash -Algorithm SHA256 -LiteralPath $Archive).Hash
    if ($sum -ne '@SHA256_x86_64_pc_windows_gnu@') { throw "the archive is not the one of this release (SHA-256 $sum)" }
    Expand-Archive -LiteralPath $Archive -DestinationPath $folder
    $target = Join-Path $env:LOCALAPPDATA 'Programs\Kosumi'
    New-Item -ItemType Directory -Force -Path $target | Out-Null
    Copy-Item -Recurse -Force -Path (Join-Path $folder "$name\*") -Destination $target
} finally {
    Remove-Item -Recurse -Force -LiteralPath $folder
}
$program = Join-Path $target 'kosumi.exe'
$path = [Environment]::GetEnvironmentVariable('Path', 'User')
if (($path -split ';') -notcontains $target) {
    $longer = if ($path) { "$path;$target" } else { $target }
    [Environment]::SetEnvironmentVariable('Path', $longer, 'User')
}
if ($Associate) {
    $classes = 'HKCU:\Software\Classes'
    New-Item -Force -Path "$classes\Kosumi.sgf\shell\open\command" -Value "`"$program`" play `"%1`"" | Out-Null
    New-Item -Force -Path "$classes\.sgf" -Value 'Kosumi.sgf' | Out-Null
}
& $program version
Write-Output "installed as $program; play with: kosumi play"
