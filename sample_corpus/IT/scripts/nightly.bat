@echo off
rem copies the intranet pages to the second server
set SRC=D:\intranet
set DST=\\files02\intranet
robocopy %SRC% %DST% /MIR /R:2 /W:5 /LOG:C:\logs\nightly.txt
if %ERRORLEVEL% GEQ 8 echo copy failed >> C:\logs\errors.txt
