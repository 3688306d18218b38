@HEAD@
$ErrorActionPreference = 'Stop'
$script:Done = 0; $script:Left = 0
function Skip($Number, $Why) { $script:Left++; Write-Output "${Number}: left: $Why" }
function Restrict($Path) {
  $acl = Get-Acl -LiteralPath $Path
  $acl.SetAccessRuleProtection($true, $false)
  foreach ($rule in @($acl.Access)) { [void]$acl.RemoveAccessRule($rule) }
  $who = @($acl.GetOwner([Security.Principal.SecurityIdentifier]))
  foreach ($sid in 'S-1-5-18', 'S-1-5-32-544') { $who += [Security.Principal.SecurityIdentifier]$sid }
  foreach ($sid in $who) {
    $acl.AddAccessRule((New-Object Security.AccessControl.FileSystemAccessRule($sid, 'FullControl', 'Allow')))
  }
  Set-Acl -LiteralPath $Path -AclObject $acl
}
function Act($Number, $Sha256, $Path, $Name) {
  try {
    $item = Get-Item -Force -LiteralPath $Path
    if ($item.PSIsContainer -or $item.LinkType) { Skip $Number 'no such file'; return }
    if ((Get-FileHash -Algorithm SHA256 -LiteralPath $Path).Hash -ne $Sha256) {
      Skip $Number 'its content has changed'; return
    }
    if ($Action -eq 'move') {
      $target = [IO.Path]::Combine($To, "$Number-" + $Name)
      if (-not (Test-Path -LiteralPath $To -PathType Container) -or (Test-Path -LiteralPath $target)) {
        Skip $Number 'no folder to move to, or the name is taken'; return
      }
    }
    if ($Apply) { if ($Action -eq 'move') { [IO.File]::Move($Path, $target) } else { Restrict $Path } }
    $script:Done++; Write-Output "${Number}: $Action"
  } catch { Skip $Number $_.Exception.GetType().Name }
}
@FILES@
if ($Apply) { Write-Output "done: $($script:Done), left: $($script:Left)" }
else { Write-Output "dry run: $($script:Done) would be done, $($script:Left) left; -Apply does it" }
