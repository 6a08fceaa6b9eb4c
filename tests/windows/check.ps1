# SPDX-License-Identifier: MIT
# check.ps1 FOLDER RESULT: gives the captures and sets in FOLDER (made by make-files) to Windows' own programs, and writes
# to RESULT a line of JSON for each check. For Windows PowerShell 5.1, which has Import-Counter; sets need an
# administrator. It judges nothing: "ok" states whether a check's own condition holds, and the details show why not.
param([Parameter(Mandatory)][string]$Folder, [Parameter(Mandatory)][string]$Result)
$ErrorActionPreference = 'Stop'
$Folder = (Resolve-Path $Folder).Path
$Result = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Result)
$work = Join-Path ([IO.Path]::GetTempPath()) "openperflib-$PID"
[void](New-Item -ItemType Directory -Force $work)
[IO.File]::WriteAllText($Result, '')

function Write-Check([string]$Check, [string]$File, [bool]$Ok, [hashtable]$Details) {
    $row = [ordered]@{ check = $Check; file = $File; ok = $Ok }
    foreach ($key in ($Details.Keys | Sort-Object)) { $row[$key] = $Details[$key] }
    [IO.File]::AppendAllText($Result, (ConvertTo-Json -Compress -Depth 5 $row) + "`n")
    Write-Host ("{0} {1} {2}" -f $(if ($Ok) { 'ok    ' } else { 'NOT OK' }), $Check, $File)
}

# Runs a program; its exit code, time and the last lines of its output.
function Invoke-Program([string]$Program, [string[]]$Arguments) {
    $ErrorActionPreference = 'Continue'
    $global:LASTEXITCODE = -1 # stays so if there is no such program
    $watch = [Diagnostics.Stopwatch]::StartNew()
    $output = @(& $Program @Arguments 2>&1 | ForEach-Object { "$_" })
    @{ command = "$Program $($Arguments -join ' ')"; exit = $LASTEXITCODE; seconds = [math]::Round($watch.Elapsed.TotalSeconds, 2)
        lines = $output.Count; output = @($output | Where-Object { $_.Trim() } | Select-Object -Last 12) }
}

function Get-Size([string]$Path) { if (Test-Path $Path) { (Get-Item $Path).Length } else { 0 } }

# A check that fails in PowerShell itself is a result, too.
function Invoke-Check([string]$Check, [string]$File, [scriptblock]$Body) {
    try { & $Body } catch { Write-Check $Check $File $false @{ error = "$_" } }
}

function Test-Number([string]$One, [string]$Other) {
    if ($One.Trim() -eq $Other.Trim()) { return $true }
    $left = 0.0; $right = 0.0
    $style = [Globalization.NumberStyles]::Float; $culture = [Globalization.CultureInfo]::InvariantCulture
    [double]::TryParse($One, $style, $culture, [ref]$left) -and [double]::TryParse($Other, $style, $culture, [ref]$right) -and
        [math]::Abs($left - $right) -le 1e-9 * [math]::Max([math]::Abs($left), [math]::Abs($right))
}

# The lines of a capture in CSV, each a list of cells. (Import-Csv refuses columns that differ in case only.)
function Read-Capture([string]$Path) {
    $rows = New-Object 'System.Collections.Generic.List[string[]]'
    foreach ($line in [IO.File]::ReadAllLines($Path)) { $rows.Add([string[]]($line.Trim().Trim('"') -split '","')) }
    return , $rows
}

# Compares two captures in CSV by the columns' names, which Windows may order otherwise.
function Compare-Capture([string]$Path, [string]$ExpectedPath) {
    $rows = Read-Capture $Path; $wanted = Read-Capture $ExpectedPath
    $places = New-Object 'System.Collections.Generic.Dictionary[string,int]'
    for ($i = 1; $i -lt $rows[0].Length; $i++) { $places[$rows[0][$i]] = $i }
    $equal = 0; $others = @(); $missing = @()
    for ($i = 1; $i -lt $wanted[0].Length; $i++) {
        $column = $wanted[0][$i]
        if (-not $places.ContainsKey($column)) { $missing += $column; continue }
        for ($row = 1; $row -lt [math]::Min($rows.Count, $wanted.Count); $row++) {
            $cell = $rows[$row][$places[$column]]
            if (Test-Number $cell $wanted[$row][$i]) { $equal++ } else { $others += "line $($row + 1), ${column}: $cell, expected $($wanted[$row][$i])" }
        }
    }
    @{ rows = $rows.Count; expectedRows = $wanted.Count; columns = $rows[0].Length; expectedColumns = $wanted[0].Length
        head = $rows[0][0]; expectedHead = $wanted[0][0]; firstTime = $rows[1][0]; expectedFirstTime = $wanted[1][0]
        equalCells = $equal; otherCells = $others.Count; firstOthers = @($others | Select-Object -First 5)
        missingColumns = $missing.Count; firstMissing = @($missing | Select-Object -First 5) }
}

$system = Get-CimInstance Win32_OperatingSystem
Write-Check 'system' '' $true @{ caption = $system.Caption; version = $system.Version; powershell = "$($PSVersionTable.PSVersion)"
    culture = "$(Get-Culture)"; zone = [TimeZoneInfo]::Local.Id }

foreach ($file in (Get-ChildItem $Folder -File | Where-Object { $_.Name -match '\.(blg|csv|tsv)$' -and $_.Name -notmatch '\.expected\.csv$' })) {
    $name = $file.Name; $path = $file.FullName; $csv = Join-Path $work "$name.csv"; $copy = Join-Path $work "$name.copy.blg"
    Invoke-Check 'relog lists' $name { $run = Invoke-Program 'relog.exe' @($path, '-q'); Write-Check 'relog lists' $name ($run.exit -eq 0) $run }
    Invoke-Check 'relog converts' $name {
        $run = Invoke-Program 'relog.exe' @($path, '-f', 'CSV', '-o', $csv, '-y')
        $expected = Join-Path $Folder ($name -replace '\.blg$', '.expected.csv' -replace '\.tsv$', '.csv')
        $difference = if (Test-Path $csv) { Compare-Capture $csv $expected } else { @{ otherCells = -1 } }
        foreach ($key in $difference.Keys) { $run[$key] = $difference[$key] }
        Write-Check 'relog converts' $name ($run.exit -eq 0 -and $run.otherCells -eq 0 -and $run.rows -eq $run.expectedRows -and $run.missingColumns -eq 0) $run
    }
    Invoke-Check 'Import-Counter reads' $name {
        # rates have no value in the first sample, which is an error of Import-Counter
        $samples = @(Import-Counter -Path $path -ErrorAction SilentlyContinue -ErrorVariable problems)
        $times = @($samples | ForEach-Object { $_.Timestamp.ToString('o') })
        Write-Check 'Import-Counter reads' $name ($samples.Count -gt 0) @{ samples = $samples.Count; first = "$($times | Select-Object -First 1)"
            last = "$($times | Select-Object -Last 1)"; counters = @($samples | Select-Object -Last 1 | ForEach-Object { $_.CounterSamples }).Count
            problems = @($problems | ForEach-Object { "$_" } | Select-Object -First 5) }
    }
    if ($name -notmatch '\.blg$') { continue }
    Invoke-Check 'relog copies' $name { $run = Invoke-Program 'relog.exe' @($path, '-f', 'BIN', '-o', $copy, '-y'); $run.bytes = Get-Size $copy; Write-Check 'relog copies' $name ($run.exit -eq 0) $run }
    Invoke-Check 'relog appends' $name { $run = Invoke-Program 'relog.exe' @($path, '-a', '-f', 'BIN', '-o', $copy); $run.bytes = Get-Size $copy; Write-Check 'relog appends' $name ($run.exit -eq 0) $run }
    Invoke-Check 'tracerpt reads' $name { $run = Invoke-Program 'tracerpt.exe' @($path, '-o', (Join-Path $work "$name.dump.csv"), '-of', 'CSV', '-y'); Write-Check 'tracerpt reads' $name ($run.exit -eq 0) $run }
}

foreach ($file in (Get-ChildItem $Folder -File -Filter '*.xml')) {
    $name = $file.Name; $set = "openperflib-$($file.BaseName)"; $back = Join-Path $work $name
    foreach ($step in @(@('logman imports', @('import', '-n', $set, '-xml', $file.FullName)), @('logman queries', @('query', $set)),
            @('logman exports', @('export', '-n', $set, '-xml', $back)), @('logman deletes', @('delete', '-n', $set)))) {
        Invoke-Check $step[0] $name {
            $run = Invoke-Program 'logman.exe' $step[1]
            if ($step[0] -eq 'logman exports' -and (Test-Path $back)) { $run.xml = [IO.File]::ReadAllText($back) }
            Write-Check $step[0] $name ($run.exit -eq 0) $run
        }
    }
}

# statements of docs/windows/pdh.md: the program prints a line of JSON for each
Invoke-Check 'facts hold' 'facts.exe' {
    $lines = @(& (Join-Path $Folder 'facts.exe'))
    $exit = $LASTEXITCODE
    foreach ($line in $lines) { [IO.File]::AppendAllText($Result, "$line`n") }
    Write-Check 'facts hold' 'facts.exe' ($exit -eq 0) @{ exit = $exit; facts = $lines.Count }
}

# what Windows itself writes, to compare our layout with: a live capture, the console's lines, a set as XML
$live = Join-Path $work 'live.blg'
Invoke-Check 'typeperf prints' '' { $run = Invoke-Program 'typeperf.exe' @('-sc', '2', '\Processor(_Total)\% Processor Time', '\Memory\Available Bytes'); Write-Check 'typeperf prints' '' ($run.exit -eq 0) $run }
Invoke-Check 'typeperf records' '' {
    $run = Invoke-Program 'typeperf.exe' @('-sc', '3', '-f', 'BIN', '-o', $live, '-y', '\Processor(*)\% Processor Time', '\Memory\Available Bytes')
    $run.base64 = [Convert]::ToBase64String([IO.File]::ReadAllBytes($live))
    Write-Check 'typeperf records' '' ($run.exit -eq 0) $run
}
Invoke-Check 'Get-Counter reads' '' { $sample = Get-Counter '\Processor(*)\% Processor Time' -ErrorAction SilentlyContinue; Write-Check 'Get-Counter reads' '' ($null -ne $sample) @{ paths = @($sample.CounterSamples.Path); sets = @(Get-Counter -ListSet *).Count } }
Invoke-Check 'logman creates' '' {
    $run = Invoke-Program 'logman.exe' @('create', 'counter', 'openperflib-own', '-c', '\Processor(*)\% Processor Time', '-si', '15', '-f', 'bincirc', '-max', '16', '-o', (Join-Path $work 'own'))
    [void](Invoke-Program 'logman.exe' @('export', '-n', 'openperflib-own', '-xml', (Join-Path $work 'own.xml')))
    [void](Invoke-Program 'logman.exe' @('delete', '-n', 'openperflib-own'))
    $run.xml = [IO.File]::ReadAllText((Join-Path $work 'own.xml'))
    Write-Check 'logman creates' '' ($run.exit -eq 0) $run
}
Remove-Item -Recurse -Force -ErrorAction SilentlyContinue $work
exit 0 # not the code of the last program: hosted machines take it for the script's
